// libFuzzer target: any text is either an Error or a policy that reads its own text back and can be
// applied.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "stoker/augment/policy.h"
#include "stoker/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const stoker::Policy policy = stoker::Policy::parse(text);
    if (stoker::Policy::parse(policy.text()).text() != policy.text()) std::abort();
    for (const int channels : {1, 3}) {
      const stoker::Image image({.height = 7, .width = 19, .channels = channels});
      static_cast<void>(policy.apply(image.view(), {.seed = size}));
    }
  } catch (const stoker::Error&) {
  }
  return 0;
}
