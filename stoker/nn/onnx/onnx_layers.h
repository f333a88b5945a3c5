// Layers as nodes of an ONNX graph: with these a network says what it is
// (Model::append_nodes). Constants have the names of the file of weights; batch norms are nodes of
// their own, which runtimes fold into the convolutions.
#pragma once

#include <cstdint>
#include <string>

#include <ATen/core/Tensor.h>

#include "stoker/io/onnx.h"
#include "stoker/nn/layers/layers.h"

namespace stoker {

// A tensor, wherever it lies.
OnnxValue onnx_constant(OnnxGraph& graph, const std::string& name, const at::Tensor& tensor);

OnnxValue onnx_convolution(OnnxGraph& graph, const std::string& name, const Convolution& layer,
                           const OnnxValue& x);
OnnxValue onnx_batch_norm(OnnxGraph& graph, const std::string& name, const BatchNorm& layer,
                          const OnnxValue& x);
OnnxValue onnx_linear(OnnxGraph& graph, const std::string& name, const Linear& layer,
                      const OnnxValue& x);

// adaptive_avg_pool2d: images of height x width, each pixel of the result the mean of its share
// of them. Parts of unequal size overlap, which no pooling of ONNX does: then two multiplications
// by matrices of means.
struct OnnxAdaptivePool {
  std::int64_t height = 1, width = 1;  // of the input
  std::int64_t out_height = 1, out_width = 1;
};
OnnxValue onnx_adaptive_average_pool(OnnxGraph& graph, const std::string& name, const OnnxValue& x,
                                     const OnnxAdaptivePool& pool);

}  // namespace stoker
