// libFuzzer target: any text is an Error, no expression, or parts whose text reads back to them.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "stoker/core/error.h"
#include "stoker/data/data_expression.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    for (const stoker::DataTerm& part : stoker::parse_data_expression(text)) {
      const auto again = stoker::parse_data_expression(text_of(part));
      if (again.size() != 1 || again.front() != part) std::abort();
    }
  } catch (const stoker::Error&) {
  }
  return 0;
}
