// Builds a graph of ATen's operators node by node: what torch.export would write of a network
// (io/exported_program.h), made by C++.
//
// Built-in networks are described so, for training (nn/families) or for export. A tensor is known
// by its name in a file of weights, as torchvision or timm has it. Without LibTorch's headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/io/exported_program.h"

namespace stoker {

// Where a tensor's values start.
struct InitialValues {
  enum class Kind : std::uint8_t { kConstant, kUniform, kNormal };
  Kind kind = Kind::kConstant;
  double value = 0;  // the constant, the bound (±), or the standard deviation
};

struct GraphTensor {
  std::vector<std::int64_t> shape = {};
  InitialValues initial = {};
  DType dtype = DType::kF32;
};

// What another library calls a layer or a tensor of ours.
struct OtherName {
  std::string ours, theirs;  // "stem.0", "features.0.0"
};

struct BuiltGraph {
  ExportedGraph graph;               // its text is empty
  std::vector<GraphTensor> tensors;  // of the graph's inputs, in their order; empty for the images
  std::vector<OtherName> other_names = {};
};

struct ConvolutionShape {
  std::int64_t inputs = 0, outputs = 0;
  std::int64_t side = 1, stride = 1, groups = 1;
  std::optional<std::int64_t> padding = {};  // half of the side, unless given
  bool bias = false;
  InitialValues initial = {};       // of the weights
  InitialValues bias_initial = {};  // 0 unless given
};

struct BatchNormShape {
  std::int64_t channels = 0;
  double epsilon = 1e-5, momentum = 0.1;
  bool counts = true;  // has num_batches_tracked, as PyTorch's
};

class GraphBuilder {
 public:
  using Arguments = std::vector<GraphNamedArgument>;

  GraphBuilder();

  [[nodiscard]] GraphReference images() const noexcept { return images_; }
  GraphReference parameter(const std::string& name, GraphTensor tensor);
  GraphReference buffer(const std::string& name, GraphTensor tensor);
  // Of an operator with one result. Arguments have the names of its schema; those with a default
  // may be missing.
  GraphReference call(const std::string& target, Arguments arguments);
  // Of an operator whose result is a list of this many tensors.
  std::vector<GraphReference> call_list(const std::string& target, Arguments arguments,
                                        std::size_t count);

  // Notes that another library has `theirs` for our `ours`, and returns ours: a layer's name.
  std::string named(std::string ours, std::string theirs);

  // Layers: their tensors are called NAME.weight, NAME.bias and so on.
  GraphReference convolution(const std::string& name, GraphReference x,
                             const ConvolutionShape& shape);
  GraphReference batch_norm(const std::string& name, GraphReference x, const BatchNormShape& shape);
  GraphReference linear(const std::string& name, GraphReference x, std::int64_t inputs,
                        std::int64_t outputs, InitialValues initial, bool bias = true);
  // Over the last dimension.
  GraphReference layer_norm(const std::string& name, GraphReference x, std::int64_t channels,
                            double epsilon);

  // Operators of one tensor: "aten::relu".
  GraphReference activation(const std::string& target, GraphReference x);
  GraphReference add(GraphReference a, GraphReference b);
  GraphReference multiply(GraphReference a, GraphReference b);
  GraphReference permute(GraphReference x, std::vector<std::int64_t> dimensions);
  // Sizes may be batch_size(), or -1 once.
  GraphReference reshape(GraphReference x, std::vector<GraphSize> sizes);
  GraphReference flatten(GraphReference x, std::int64_t first_dimension);
  struct Pool {
    std::int64_t side = 2, stride = 2, padding = 0;
  };
  GraphReference max_pool(GraphReference x, const Pool& pool);
  GraphReference clamp(GraphReference x, double low, double high);
  // Each map to one of this size.
  GraphReference average_pool(GraphReference x, std::int64_t height, std::int64_t width);
  // Stochastic depth: training drops the whole of a sample with the probability `rate`.
  // `dimensions` of x.
  GraphReference drop_path(GraphReference x, double rate, std::size_t dimensions);
  GraphReference dropout(GraphReference x, double rate);
  // How many images there are: an integer.
  GraphReference batch_size();

  // What the first `end` nodes of a graph, whose images are `x`, compute as `wanted`.
  GraphReference append(const ExportedGraph& graph, std::size_t end, GraphReference x,
                        GraphReference wanted);

  // What the graph gives. The builder is empty then.
  BuiltGraph finish(GraphReference output);

 private:
  GraphReference input(GraphInput::Kind kind, const std::string& name, GraphTensor tensor);
  GraphReference value(const std::string& name, bool is_tensor);

  BuiltGraph built_;
  GraphReference images_;
  std::optional<GraphReference> batch_size_;
  std::string module_;  // of the next nodes
};

}  // namespace stoker
