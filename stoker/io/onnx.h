// ONNX files, for writing: a network as a graph of nodes with its weights, for ONNX Runtime and the
// many programs that read the format. Operators of version 17.
//
// A graph is built from the input on: node() adds one and returns its result. Weights are
// copied when they are added. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stoker/io/safetensors.h"

namespace stoker {

// What flows along an edge of the graph.
struct OnnxValue {
  std::string name;
};

// Of a node: an integer, a real number, a list of integers, or a text.
struct OnnxAttribute {
  std::string name;
  std::variant<std::int64_t, float, std::vector<std::int64_t>, std::string> value;
};

class OnnxGraph {
 public:
  explicit OnnxGraph(std::string name);

  // A batch of any size, of samples of this shape.
  OnnxValue input(const std::string& name, std::span<const std::int64_t> sample_shape,
                  DType type = DType::kF32);
  void output(const std::string& name, const OnnxValue& value,
              std::span<const std::int64_t> sample_shape);

  // A constant by the tensor's name. Throws Error where the name is taken or empty, or bytes and
  // shape disagree.
  OnnxValue constant(const TensorView& tensor);
  OnnxValue constant(const std::string& name, std::span<const std::int64_t> values);
  OnnxValue constant(const std::string& name, std::span<const float> values,
                     std::span<const std::int64_t> shape);

  // What an operator of ONNX gives for these values; one without a name is an input that is not
  // given.
  OnnxValue node(std::string_view operation, std::span<const OnnxValue> inputs,
                 std::span<const OnnxAttribute> attributes = {});
  OnnxValue node(std::string_view operation, std::initializer_list<OnnxValue> inputs,
                 std::initializer_list<OnnxAttribute> attributes = {});
  // Of an operator with several results.
  std::vector<OnnxValue> nodes(std::string_view operation, std::span<const OnnxValue> inputs,
                               std::span<const OnnxAttribute> attributes, std::size_t results);
  // "Conv_3", not taken yet.
  [[nodiscard]] std::string fresh_name(std::string_view operation);

  // Text that readers find beside the graph.
  void metadata(const std::string& key, const std::string& value);

  // Throws Error where the file would be larger than the format allows (2 GiB).
  [[nodiscard]] std::string encode() const;
  // A file that either is there as a whole or leaves the old one (core/atomic_file.h). The same
  // graph makes the same bytes.
  void write(const std::filesystem::path& path) const;

 private:
  void take_name(const std::string& name);

  // Encoded messages: a graph is only ever appended to.
  std::string name_;
  std::vector<std::string> nodes_, constants_, inputs_, outputs_;
  std::map<std::string, std::string> metadata_;
  std::set<std::string, std::less<>> names_;
  std::map<std::string, int, std::less<>> counts_;  // nodes of each operation
};

}  // namespace stoker
