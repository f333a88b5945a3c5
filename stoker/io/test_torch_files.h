// What the tests of PyTorch files share: pickles written opcode by opcode, and the two formats
// around them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "stoker/core/test_files.h"
#include "stoker/io/detail/zip_archive.h"

namespace stoker::pickles {

inline std::string little_endian(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
  return out;
}

// ---- Values.

inline std::string text(std::string_view value) {
  return "X" + little_endian(value.size(), 4) + std::string(value);
}
inline std::string global(std::string_view module, std::string_view name) {
  return fmt::format("c{}\n{}\n", module, name);
}
inline std::string integer(std::int64_t value) {
  return "\x8A\x08" + little_endian(static_cast<std::uint64_t>(value), 8);
}
inline std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += part;
  return all;
}
inline std::string tuple(const std::vector<std::string>& items) {
  return "(" + joined(items) + "t";
}
inline std::string sizes(const std::vector<std::int64_t>& values) {
  std::vector<std::string> items;
  for (const std::int64_t value : values) items.push_back(integer(value));
  return tuple(items);
}
inline std::string dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string out = "}(";
  for (const auto& [key, value] : items) out += text(key) + value;
  return out + "u";
}
inline std::string whole(const std::string& value) { return "\x80\x02" + value + "."; }

// ---- Tensors.

inline std::string storage(std::string_view type, std::string_view key, std::int64_t count) {
  return tuple({text("storage"), global("torch", type), text(key), text("cpu"), integer(count)}) +
         "Q";
}
inline std::string tensor(const std::string& storage_id, std::int64_t offset,
                          const std::vector<std::int64_t>& shape,
                          const std::vector<std::int64_t>& strides) {
  return global("torch._utils", "_rebuild_tensor_v2") +
         tuple({storage_id, integer(offset), sizes(shape), sizes(strides), "\x89",
                global("collections", "OrderedDict") + ")R"}) +
         "R";
}

// ---- Files.

using Storages = std::vector<std::pair<std::string, std::string>>;  // key and bytes

inline Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

inline Bytes zip_of(const std::vector<std::pair<std::string, std::string>>& records) {
  std::vector<detail::ZipInput> inputs;
  for (const auto& [name, content] : records) {
    inputs.push_back({.name = name, .bytes = std::as_bytes(std::span(content))});
  }
  const detail::ZipLayout layout = detail::lay_out_zip(inputs);
  std::string out;
  for (std::size_t i = 0; i < records.size(); ++i) out += layout.headers[i] + records[i].second;
  return bytes_of(out + layout.directory);
}

inline Bytes zip_file(const std::string& pickle, const Storages& storages = {}) {
  std::vector<std::pair<std::string, std::string>> records = {{"a/data.pkl", pickle},
                                                              {"a/version", "3\n"}};
  for (const auto& [key, content] : storages) records.emplace_back("a/data/" + key, content);
  return zip_of(records);
}

inline std::string old_header() {
  return whole(std::string("\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19")) +
         whole(std::string("M\xE9\x03")) + whole("}");
}

// Each storage's bytes behind its number of values, of `width` bytes each.
inline Bytes old_file(const std::string& pickle, const Storages& storages, std::size_t width = 4) {
  std::string keys = "](", values;
  for (const auto& [key, content] : storages) {
    keys += text(key);
    values += little_endian(content.size() / width, 8) + content;
  }
  return bytes_of(old_header() + pickle + whole(keys + "e") + values);
}

// 24 bytes that count up: six floats.
inline std::string six_floats() {
  std::string out;
  for (int i = 0; i < 24; ++i) out += static_cast<char>(i);
  return out;
}
// {"w": a tensor of six floats, (2, 3)}
inline std::string good_pickle() {
  return whole(dict({{"w", tensor(storage("FloatStorage", "0", 6), 0, {2, 3}, {3, 1})}}));
}

}  // namespace stoker::pickles
