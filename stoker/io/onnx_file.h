// What an ONNX file holds, without its values: inputs, outputs, operators, tensors, metadata.
//
// The file is read as data: lengths are checked before anything is taken, graphs within nodes nest
// to a limit, and memory follows the size of the file. Values stay where they are; those in other
// files are not looked for. Texts are as the file has them: see plain_text() before you print one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace stoker {

// An input or output of the graph.
struct OnnxPort {
  std::string name;
  std::string type;                // "F32"; "type 20" where we have no name; empty: not told
  std::vector<std::string> shape;  // "224", "samples", "?"
};

struct OnnxTensorFacts {
  std::string name;
  std::string type;  // as that of OnnxPort
  std::vector<std::int64_t> shape;
  std::uint64_t values = 0;
  bool is_floating = false;
  bool is_elsewhere = false;  // its values are in another file
};

struct OnnxFacts {
  std::int64_t file_version = 0;                 // ONNX calls it the IR's
  std::string producer, graph;                   // "pytorch 2.15.0", the graph's name
  std::map<std::string, std::int64_t> opsets;    // by domain; ONNX's own is ""
  std::vector<OnnxPort> inputs, outputs;         // without inputs that are constants
  std::map<std::string, std::size_t> operators;  // nodes by "Conv", "com.microsoft.Gelu"
  std::vector<OnnxTensorFacts> tensors;          // constants of the graph
  std::map<std::string, std::string> metadata;

  [[nodiscard]] std::size_t nodes() const;  // those within nodes too
  // Values of floating point, running statistics among them.
  [[nodiscard]] std::uint64_t parameters() const;
};

// Throws Error where the file cannot be read or is not such a file.
[[nodiscard]] OnnxFacts read_onnx_facts(const std::filesystem::path& path);
// The same for bytes in memory; `name` is for messages.
[[nodiscard]] OnnxFacts parse_onnx_facts(std::span<const std::byte> bytes, const std::string& name);

}  // namespace stoker
