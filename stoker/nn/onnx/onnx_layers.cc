#include "stoker/nn/onnx/onnx_layers.h"

#include <array>
#include <vector>

#include <ATen/ATen.h>

#include "stoker/nn/tensor_views.h"

namespace stoker {
namespace {

// (outputs, inputs): row o has the mean of inputs floor(o n / m) up to ceil((o + 1) n / m).
std::vector<float> mean_matrix(std::int64_t inputs, std::int64_t outputs) {
  std::vector<float> matrix(static_cast<std::size_t>(outputs * inputs), 0.0F);
  for (std::int64_t row = 0; row < outputs; ++row) {
    const std::int64_t begin = row * inputs / outputs;
    const std::int64_t end = ((row + 1) * inputs + outputs - 1) / outputs;
    for (std::int64_t column = begin; column < end; ++column) {
      matrix[static_cast<std::size_t>(row * inputs + column)] =
          1.0F / static_cast<float>(end - begin);
    }
  }
  return matrix;
}

std::vector<float> transposed(const std::vector<float>& matrix, std::int64_t rows,
                              std::int64_t columns) {
  std::vector<float> result(matrix.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      result[static_cast<std::size_t>(c * rows + r)] =
          matrix[static_cast<std::size_t>(r * columns + c)];
    }
  }
  return result;
}

}  // namespace

OnnxValue onnx_constant(OnnxGraph& graph, const std::string& name, const at::Tensor& tensor) {
  const std::array<NamedTensor, 1> named = {NamedTensor{name, tensor}};
  const FileTensors rows(named);
  return graph.constant(rows.views().front());
}

OnnxValue onnx_convolution(OnnxGraph& graph, const std::string& name, const Convolution& layer,
                           const OnnxValue& x) {
  const OnnxValue weight = onnx_constant(graph, name + ".weight", layer.weight);
  return graph.conv(
      x, weight, /*bias=*/{},
      {.stride = layer.stride, .padding = layer.weight.size(2) / 2, .groups = layer.groups});
}

OnnxValue onnx_batch_norm(OnnxGraph& graph, const std::string& name, const BatchNorm& layer,
                          const OnnxValue& x) {
  const auto constant = [&](const char* part, const at::Tensor& tensor) {
    return onnx_constant(graph, name + part, tensor);
  };
  return graph.batch_norm(x, {.scale = constant(".weight", layer.weight),
                              .bias = constant(".bias", layer.bias),
                              .mean = constant(".running_mean", layer.running_mean),
                              .variance = constant(".running_var", layer.running_variance),
                              .epsilon = static_cast<float>(BatchNorm::kVarianceFloor)});
}

OnnxValue onnx_linear(OnnxGraph& graph, const std::string& name, const Linear& layer,
                      const OnnxValue& x) {
  const OnnxValue weight = onnx_constant(graph, name + ".weight", layer.weight);
  const OnnxValue bias = onnx_constant(graph, name + ".bias", layer.bias);
  return graph.gemm(x, weight, bias, /*transposed=*/true);
}

OnnxValue onnx_adaptive_average_pool(OnnxGraph& graph, const std::string& name, const OnnxValue& x,
                                     const OnnxAdaptivePool& pool) {
  if (pool.height == pool.out_height && pool.width == pool.out_width) return x;
  if (pool.out_height == 1 && pool.out_width == 1) return graph.global_average_pool(x);
  if (pool.height % pool.out_height == 0 && pool.width % pool.out_width == 0) {
    const std::array<std::int64_t, 2> window = {pool.height / pool.out_height,
                                                pool.width / pool.out_width};
    return graph.average_pool(x, {.window = window, .stride = window, .padding = 0});
  }
  const std::vector<float> down = mean_matrix(pool.height, pool.out_height);
  const std::vector<float> across =
      transposed(mean_matrix(pool.width, pool.out_width), pool.out_width, pool.width);
  const std::array<std::int64_t, 2> down_shape = {pool.out_height, pool.height};
  const std::array<std::int64_t, 2> across_shape = {pool.width, pool.out_width};
  const OnnxValue rows = graph.constant(name + ".rows", down, down_shape);
  const OnnxValue columns = graph.constant(name + ".columns", across, across_shape);
  return graph.matmul(graph.matmul(rows, x), columns);
}

}  // namespace stoker
