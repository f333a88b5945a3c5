// Networks as Python's torch.export writes them (.pt2): a graph of ATen's operators with its
// weights.
//
// Such a file is a zip archive: NAME/models/model.json has the graph, NAME/data/weights and
// NAME/data/constants raw tensors. Everything is read as data: operators are names on a list
// (io/exported_operators.h), every value is defined before it is used, so the graph has no cycle,
// and pickled tensors are refused. Sample inputs, which are always pickled, are never opened.
// Lengths are checked before memory is taken; memory follows the size of the file. Without
// LibTorch: nn/graph executes what is read here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stoker/core/input_file.h"
#include "stoker/io/safetensors.h"

namespace stoker {

// A value of a graph: its place in ExportedGraph::values.
struct GraphReference {
  std::uint32_t value = 0;
  bool operator==(const GraphReference&) const = default;
};

struct GraphNone {};
struct GraphDevice {};   // whichever the file names: values are computed where the model is
struct GraphStrided {};  // strided, the only one that is read
enum class GraphMemoryFormat : std::uint8_t { kContiguous, kChannelsLast, kPreserve };

using GraphSize = std::variant<std::int64_t, GraphReference>;
// What an operator is called with.
using GraphArgument =
    std::variant<GraphNone, GraphReference, bool, std::int64_t, double, std::string,
                 std::vector<std::int64_t>, std::vector<double>, std::vector<bool>,
                 std::vector<GraphSize>, std::vector<std::optional<GraphReference>>, DType,
                 GraphDevice, GraphStrided, GraphMemoryFormat>;
// "a list of integers", for messages.
[[nodiscard]] std::string_view kind_name(const GraphArgument& argument);

struct GraphNamedArgument {
  std::string name;  // as the operator's schema has it
  GraphArgument value;
  bool by_name = false;  // Python gives it by its name, not by its place
};

// What an operator gives: one value, or a list of them.
struct GraphOutput {
  bool is_list = false;
  std::vector<GraphReference> values;  // one unless it is a list; none: nobody uses it
};

struct GraphNode {
  std::string target;  // "aten::conv2d", "aten::add_.Tensor"; "mul", "add" and so on of integers
  std::vector<GraphNamedArgument> arguments = {};
  std::vector<GraphOutput> outputs = {};
  std::string module = {};  // that calls it: "layer1.0.conv1"
};

// One size of a tensor, as a file claims it.
struct ClaimedSize {
  std::int64_t size = 0;  // for the batch that the network was exported with
  bool is_fixed = true;   // else it follows the number of images
  bool operator==(const ClaimedSize&) const = default;
};

struct GraphValueInfo {
  std::string name;
  bool is_tensor = true;  // else an integer
  // To be shown, never to be trusted: what LibTorch computes decides. Nothing where the file does
  // not tell.
  std::optional<std::vector<ClaimedSize>> shape = {};
};

struct GraphInput {
  enum class Kind : std::uint8_t { kParameter, kBuffer, kConstant, kImages };
  Kind kind = Kind::kImages;
  GraphReference value;
  std::string name = {};  // of the tensor: "layer1.0.conv1.weight"
};

struct ExportedGraph {
  std::vector<GraphValueInfo> values;
  std::vector<GraphInput> inputs;  // in the order of the file; one is kImages
  std::vector<GraphNode> nodes;    // each after those whose values it uses
  GraphReference output;           // the logits
  // What the graph was read from, without names of files and code of whoever exported it:
  // parse_exported_graph() reads the same from it.
  std::string text;
};

// From the text of a model.json; `file` is for messages. Throws Error.
[[nodiscard]] ExportedGraph parse_exported_graph(std::string_view json, const std::string& file);

// A tensor of a file. Buffers that PyTorch does not save with the others are constants to it.
struct ExportedTensor {
  TensorView view;
  GraphInput::Kind kind = GraphInput::Kind::kParameter;
};

class ExportedProgram {
 public:
  ExportedProgram() = default;
  // Throws Error where the file cannot be read, is damaged, or has what is not allowed.
  explicit ExportedProgram(const std::filesystem::path& path);

  [[nodiscard]] const ExportedGraph& graph() const& noexcept { return graph_; }
  // Of every input but the images, in their order. Valid while this, or what it was moved to,
  // lives.
  [[nodiscard]] const std::vector<ExportedTensor>& tensors() const& noexcept { return tensors_; }
  // extra/stoker.json, which scripts/export_network.py adds; empty where there is none.
  [[nodiscard]] const std::string& facts() const& noexcept { return facts_; }
  // Not of a temporary.
  void graph() const&& = delete;
  void tensors() const&& = delete;
  void facts() const&& = delete;

 private:
  friend ExportedProgram parse_exported_program(std::span<const std::byte> bytes,
                                                const std::string& name);
  ExportedGraph graph_;
  std::vector<ExportedTensor> tensors_;
  std::vector<std::vector<std::byte>> copies_;
  std::string facts_;
  FileBytes file_;
};

// The same for bytes in memory, which must outlive the result; `name` is for messages.
[[nodiscard]] ExportedProgram parse_exported_program(std::span<const std::byte> bytes,
                                                     const std::string& name);

// ExportedProgram::facts() of a file of which nothing else is read. Throws Error.
[[nodiscard]] std::string read_exported_extra(const std::filesystem::path& path);

}  // namespace stoker
