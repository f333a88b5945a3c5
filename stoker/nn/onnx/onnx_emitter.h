// Writes a graph of ATen's operators as one of ONNX's, operator by operator.
//
// Values that do not depend on the images are written as constants; what they are computed from is
// not. Sizes come from a trace (nn/graph/trace_values.h), so integers of the graph need no nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "stoker/io/onnx.h"
#include "stoker/nn/graph/inference_graph.h"
#include "stoker/nn/graph/trace_values.h"
#include "stoker/nn/int8/quantised_graph.h"

namespace stoker {

class OnnxEmitter {
 public:
  using Sizes = std::vector<std::int64_t>;

  // All outlive this. `pixels` are the images of the graph. `quantised`: values that are rounded,
  // with the weights of the layers that read them; none: nothing is.
  OnnxEmitter(OnnxGraph& onnx, const InferenceGraph& network,
              const std::vector<TracedValue>& values, const OnnxValue& pixels,
              const QuantisedValues& quantised);

  // The whole graph; returns its output. Throws Error, with the operator and the module, where
  // ONNX has nothing for a node.
  OnnxValue emit();

  // For the functions of onnx_operators.h. Each node is emitted once, in the order of the graph.
  [[nodiscard]] OnnxGraph& onnx() noexcept { return onnx_; }
  // An argument that is a tensor, or a number as one of the type of `like`.
  OnnxValue tensor(const GraphNode& node, std::string_view name, at::ScalarType like = at::kFloat);
  [[nodiscard]] bool has(const GraphNode& node, std::string_view name) const;
  // Type and sizes of an argument, or of a result.
  [[nodiscard]] const TracedValue& traced(const GraphNode& node, std::string_view name) const;
  [[nodiscard]] const TracedValue& result(const GraphNode& node, std::size_t number = 0) const;
  [[nodiscard]] std::int64_t integer(const GraphNode& node, std::string_view name,
                                     std::int64_t otherwise) const;
  [[nodiscard]] double number(const GraphNode& node, std::string_view name, double otherwise) const;
  [[nodiscard]] bool flag(const GraphNode& node, std::string_view name, bool otherwise) const;
  [[nodiscard]] std::string text(const GraphNode& node, std::string_view name,
                                 const std::string& otherwise) const;
  // A list, or one integer for all `count`; empty where it is not given.
  [[nodiscard]] Sizes integers(const GraphNode& node, std::string_view name,
                               std::size_t count = 0) const;
  // A dimension counted from the front.
  [[nodiscard]] std::int64_t dimension(const GraphNode& node, std::string_view name,
                                       std::int64_t otherwise, std::size_t dimensions) const;
  // Weights and bias of a convolution or product, rounded where what it reads is. The weights'
  // first two dimensions change places where `swapped`; the bias has no name where there is none.
  struct LayerTensors {
    OnnxValue weight, bias;
  };
  LayerTensors layer_tensors(const GraphNode& node, bool swapped = false);
  // Members of a list of tensors.
  std::vector<OnnxValue> tensors(const GraphNode& node, std::string_view name);
  [[nodiscard]] OnnxValue value(GraphReference reference);
  [[nodiscard]] const TracedValue& traced(GraphReference reference) const {
    return values_[reference.value];
  }

  // What the node gives.
  void set(const GraphNode& node, OnnxValue value) { set(node, 0, std::move(value)); }
  void set(const GraphNode& node, std::size_t number, OnnxValue value);
  void set_list(const GraphNode& node, std::span<const OnnxValue> values);

  OnnxValue constant(const at::Tensor& tensor);
  OnnxValue constant(const Sizes& integers);  // one dimension
  OnnxValue scalar(double number, at::ScalarType type = at::kFloat);
  OnnxValue cast(const OnnxValue& x, at::ScalarType from, at::ScalarType to);
  // The same values in these sizes.
  OnnxValue reshape(const OnnxValue& x, const std::vector<TracedSize>& sizes);
  // Sizes as a tensor, where the batch's is not known before.
  OnnxValue shape(const std::vector<TracedSize>& sizes);
  // Part of a dimension; `end` and `step` as ONNX has them.
  OnnxValue slice(const OnnxValue& x, std::int64_t dimension, std::int64_t begin, std::int64_t end,
                  std::int64_t step = 1);

  [[noreturn]] void refuse(const GraphNode& node, std::string expected, std::string found) const;

 private:
  // The same, rounded.
  OnnxValue rounded(const OnnxValue& x, const QuantisedValue& form);
  // Integers times scales along a dimension.
  OnnxValue scaled(const at::Tensor& integers, const at::Tensor& scales, std::int64_t dimension);
  void put(GraphReference value, OnnxValue made);

  OnnxGraph& onnx_;
  const InferenceGraph& network_;
  const std::vector<TracedValue>& values_;
  OnnxValue pixels_;
  const QuantisedValues& quantised_;
  std::map<std::uint32_t, OnnxValue> made_;
  std::optional<OnnxValue> batch_;  // one integer
};

// ONNX's number of a type. Throws Error for one that graphs do not have.
[[nodiscard]] std::int64_t onnx_type(at::ScalarType type);

// Sizes that do not grow with the batch. Error where one does.
[[nodiscard]] OnnxEmitter::Sizes fixed_sizes(const OnnxEmitter& emitter, const GraphNode& node,
                                             const TracedValue& value, std::size_t first = 0);

}  // namespace stoker
