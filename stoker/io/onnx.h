// ONNX files, for writing: a network as a graph of nodes with its weights, for ONNX Runtime and the
// many programs that read the format. Operators of version 17.
//
// A graph is built from the input on: each function adds a node and returns its result. Weights are
// copied when they are added. One thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/io/safetensors.h"

namespace stoker {

// What flows along an edge of the graph.
struct OnnxValue {
  std::string name;
};

struct OnnxConv {
  std::int64_t stride = 1, padding = 0, groups = 1;  // the same for rows and columns
};

struct OnnxPool {
  std::array<std::int64_t, 2> window = {2, 2};  // rows, columns
  std::array<std::int64_t, 2> stride = {2, 2};
  std::int64_t padding = 0;
};

struct OnnxBatchNorm {
  OnnxValue scale, bias, mean, variance;
  float epsilon = 1e-5F;
};

class OnnxGraph {
 public:
  explicit OnnxGraph(std::string name);

  // A batch of any size, of F32 samples of this shape.
  OnnxValue input(const std::string& name, std::span<const std::int64_t> sample_shape);
  void output(const std::string& name, const OnnxValue& value,
              std::span<const std::int64_t> sample_shape);

  // A constant by the tensor's name. Throws Error where the name is taken or empty, or bytes and
  // shape disagree.
  OnnxValue constant(const TensorView& tensor);
  OnnxValue constant(const std::string& name, std::span<const std::int64_t> values);
  OnnxValue constant(const std::string& name, std::span<const float> values,
                     std::span<const std::int64_t> shape);

  // `weight` (outputs, inputs / groups, rows, columns); an empty name of `bias` means none.
  OnnxValue conv(const OnnxValue& x, const OnnxValue& weight, const OnnxValue& bias,
                 const OnnxConv& options);
  OnnxValue batch_norm(const OnnxValue& x, const OnnxBatchNorm& norm);
  OnnxValue relu(const OnnxValue& x);
  OnnxValue sigmoid(const OnnxValue& x);
  OnnxValue softplus(const OnnxValue& x);  // log(1 + exp(x))
  OnnxValue negate(const OnnxValue& x);
  OnnxValue clip(const OnnxValue& x, float low, float high);
  OnnxValue max_pool(const OnnxValue& x, const OnnxPool& options);
  OnnxValue average_pool(const OnnxValue& x, const OnnxPool& options);
  OnnxValue global_average_pool(const OnnxValue& x);
  OnnxValue add(const OnnxValue& a, const OnnxValue& b);
  OnnxValue multiply(const OnnxValue& a, const OnnxValue& b);  // value by value
  OnnxValue matmul(const OnnxValue& a, const OnnxValue& b);
  // (samples, everything else)
  OnnxValue flatten(const OnnxValue& x);
  // `shape` of a sample; -1 once, for what the others leave.
  OnnxValue reshape(const OnnxValue& x, std::span<const std::int64_t> sample_shape);
  // x · weight + bias, with `weight` as (inputs, outputs), or transposed as PyTorch keeps it.
  OnnxValue gemm(const OnnxValue& x, const OnnxValue& weight, const OnnxValue& bias,
                 bool transposed);
  OnnxValue identity(const OnnxValue& x);

  // Text that readers find beside the graph.
  void metadata(const std::string& key, const std::string& value);

  // Throws Error where the file would be larger than the format allows (2 GiB).
  [[nodiscard]] std::string encode() const;
  // A file that either is there as a whole or leaves the old one (core/atomic_file.h). The same
  // graph makes the same bytes.
  void write(const std::filesystem::path& path) const;

 private:
  struct Attribute;
  OnnxValue node(std::string_view operation, std::span<const OnnxValue> inputs,
                 std::span<const Attribute> attributes);
  OnnxValue node(std::string_view operation, std::initializer_list<OnnxValue> inputs);
  OnnxValue pool(std::string_view operation, const OnnxValue& x, const OnnxPool& options);
  [[nodiscard]] std::string fresh_name(std::string_view operation);
  void take_name(const std::string& name);

  // Encoded messages: a graph is only ever appended to.
  std::string name_;
  std::vector<std::string> nodes_, constants_, inputs_, outputs_;
  std::map<std::string, std::string> metadata_;
  std::set<std::string, std::less<>> names_;
  std::map<std::string, int, std::less<>> counts_;  // nodes of each operation
};

}  // namespace stoker
