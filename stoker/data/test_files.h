// What the room's tests share: folders that vanish, IDX and gzip bytes, and the way to real data.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include "stoker/core/error.h"

namespace stoker {

using Bytes = std::vector<std::uint8_t>;

inline std::span<const std::byte> as_span(const Bytes& bytes) {
  return std::as_bytes(std::span(bytes));
}

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "stoker_data_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::filesystem::path& name, const Bytes& bytes) const {
    const std::filesystem::path path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path;
  }

 private:
  std::filesystem::path path_;
};

// Big-endian words, then values.
inline Bytes idx_bytes(std::initializer_list<std::uint32_t> header, const Bytes& values = {}) {
  Bytes bytes;
  for (const std::uint32_t word : header) {
    for (const int shift : {24, 16, 8, 0})
      bytes.push_back(static_cast<std::uint8_t>(word >> shift));
  }
  bytes.insert(bytes.end(), values.begin(), values.end());
  return bytes;
}

inline Bytes labels_idx(const Bytes& labels) {
  return idx_bytes({0x801, static_cast<std::uint32_t>(labels.size())}, labels);
}

// n images of 2x3 whose values count up.
inline Bytes images_idx(std::uint32_t n) {
  Bytes values(n * 6);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i);
  return idx_bytes({0x803, n, 2, 3}, values);
}

inline Bytes gzip_bytes(const Bytes& plain) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2 failed");
  }
  Bytes packed(deflateBound(&stream, plain.size()));
  stream.next_in = const_cast<Bytef*>(plain.data());
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("deflate failed");
  return packed;
}

// The message of the Error that `action` throws; fails the test where it throws none.
template <class Action>
ErrorDetails error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.details();
  }
  ADD_FAILURE() << "expected an Error";
  return {};
}

// Real data sets: $STOKER_TEST_DATA, else beside the project.
inline std::filesystem::path test_data() {
  const char* folder = std::getenv("STOKER_TEST_DATA");
  if (folder != nullptr && *folder != '\0') return folder;
  return std::filesystem::path(STOKER_SOURCE_DIR) / ".." / "shared" / "data";
}

}  // namespace stoker

// Skips a test for which real data is missing, and says which.
#define STOKER_NEEDS(path)                                                               \
  if (!std::filesystem::exists(path)) {                                                  \
    GTEST_SKIP() << "needs " << (path) << "; set STOKER_TEST_DATA to the folder of the " \
                 << "test data";                                                         \
  }
