// libFuzzer target: any bytes are an Error, or a graph whose values are defined before they are
// used and whose text reads back to the same. They are tried as a whole file, as its graph, and as
// the table of its tensors.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/core/error.h"
#include "stoker/io/exported_operators.h"
#include "stoker/io/exported_program.h"
#include "stoker/io/test_exported_programs.h"

namespace {

void require(bool promise) {
  if (!promise) std::abort();
}

void check_graph(const stoker::ExportedGraph& graph) {
  require(graph.output.value < graph.values.size());
  for (const stoker::GraphNode& node : graph.nodes) {
    require(stoker::is_exported_operator(node.target) || stoker::is_integer_operator(node.target));
    for (const stoker::GraphOutput& output : node.outputs) {
      for (const stoker::GraphReference& value : output.values) {
        require(value.value < graph.values.size());
      }
    }
  }
  require(stoker::parse_exported_graph(graph.text, "again").text == graph.text);
}

void check_text(std::string_view text) {
  try {
    check_graph(stoker::parse_exported_graph(text, "fuzz"));
  } catch (const stoker::Error&) {
  }
}

void check_file(std::span<const std::byte> bytes) {
  try {
    const stoker::ExportedProgram program = stoker::parse_exported_program(bytes, "fuzz");
    check_graph(program.graph());
    unsigned sum = 0;
    for (const stoker::ExportedTensor& tensor : program.tensors()) {
      require(stoker::tensor_bytes(tensor.view.dtype, tensor.view.shape) ==
              tensor.view.bytes.size());
      for (const std::byte byte : tensor.view.bytes) sum += std::to_integer<unsigned>(byte);
    }
    volatile unsigned used = sum;  // so that every byte is read
    (void)used;
  } catch (const stoker::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_file(std::as_bytes(std::span(data, size)));
  check_text(text);
  auto records = stoker::exported::good_records();
  records[1].second = text;  // the table of tensors
  const auto bytes = stoker::pickles::zip_of(records);
  check_file(std::as_bytes(std::span(bytes)));
  return 0;
}
