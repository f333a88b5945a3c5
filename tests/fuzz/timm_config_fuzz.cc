// libFuzzer target: any text is an Error, or a config whose text reads back to the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "stoker/core/error.h"
#include "stoker/io/timm_config.h"

namespace {

void check(const std::string& text) {
  stoker::TimmConfig config;
  try {
    config = stoker::parse_timm_config(text, "fuzz");
  } catch (const stoker::Error&) {
    return;
  }
  if (!(stoker::parse_timm_config(stoker::timm_config_text(config), "again") == config))
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check(text);
  // As the part that says how images are prepared.
  check(R"({"architecture":"resnet18","num_classes":2,"pretrained_cfg":{)" + text + "}}");
  return 0;
}
