// What tests of all rooms share: folders that vanish, whole files, expected errors, the way to real
// data.
#pragma once

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "stoker/core/error.h"

namespace stoker {

using Bytes = std::vector<std::uint8_t>;

inline std::span<const std::byte> as_span(const Bytes& bytes) {
  return std::as_bytes(std::span(bytes));
}

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "stoker_test_XXXXXX").string();
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

// All bytes of a file; none where it cannot be read.
inline Bytes contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
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

// The same as one text.
template <class Action>
std::string message_of(Action&& action) {
  return to_string(error_of(std::forward<Action>(action)));
}

// No file of this process may become longer than this, as on a disk that fills up.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit small{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  }
  ~FileSizeLimit() {
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before_), 0);
    (void)std::signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*old_handler_)(int);
};

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
