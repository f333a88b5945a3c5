// Tar archives for tests, made field by field so that every one of them can lie.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "stoker/core/test_files.h"
#include "stoker/data/shards/tar.h"

namespace stoker::test {

// Makes the checksum of an archive's first header fit.
inline void fit_checksum(std::string& archive) {
  std::uint64_t sum = 8 * ' ';
  for (std::size_t i = 0; i < 512; ++i) {
    if (i < 148 || i >= 156) sum += static_cast<unsigned char>(archive[i]);
  }
  const std::string digits = fmt::format("{:06o}", sum);
  std::copy(digits.begin(), digits.end(), archive.begin() + 148);
}

// A member with any type.
inline std::string member(const std::string& name, const std::string& content, char type = '0',
                          std::optional<std::uint64_t> size = {}) {
  std::string header = tar_header(name, size.value_or(content.size()));
  header[156] = type;
  fit_checksum(header);
  return header + content + tar_padding(content.size());
}

inline std::string pax(const std::string& key, const std::string& value) {
  std::string record = fmt::format(" {}={}\n", key, value);
  std::size_t length = record.size() + 1;
  while (fmt::format("{}{}", length, record).size() != length) ++length;
  return member("PaxHeaders/x", fmt::format("{}{}", length, record), 'x');
}

inline std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

inline std::vector<std::string> names_in(const std::string& archive) {
  TarReader reader(as_bytes(archive), "x.tar");
  std::vector<std::string> names;
  while (const auto found = reader.next()) {
    names.push_back(found->name);
    EXPECT_LE(found->offset + found->size, archive.size());
  }
  return names;
}

}  // namespace stoker::test
