// libFuzzer target: any bytes are an Error, or facts about a network whose sums follow from its
// parts. They are tried as a whole file and as the graph of one.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "stoker/core/error.h"
#include "stoker/core/plain_text.h"
#include "stoker/io/detail/protobuf.h"
#include "stoker/io/onnx_file.h"

namespace {

void require(bool promise) {
  if (!promise) std::abort();
}

void check(std::span<const std::byte> bytes) {
  try {
    const stoker::OnnxFacts facts = stoker::parse_onnx_facts(bytes, "fuzz");
    require(!facts.opsets.empty());
    require(facts.nodes() <= bytes.size() && facts.tensors.size() <= bytes.size());
    for (const auto& [key, value] : facts.metadata) {
      for (const char c : stoker::plain_text(key) + stoker::plain_text(value)) {
        require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
      }
    }
  } catch (const stoker::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check(std::as_bytes(std::span(text)));
  stoker::detail::ProtoMessage opset, model;
  opset.add_integer(2, 17);
  model.add_text(7, text);
  model.add_message(8, opset);
  check(std::as_bytes(std::span(model.bytes())));
  return 0;
}
