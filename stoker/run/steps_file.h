// steps.csv of a run: loss and rate of many single steps.
//
// Rows are kept in memory. A checkpoint may be written by another thread, and rows up to its step
// must be on the disk before it: writer() is for that thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace stoker {

class StepsFile {
 public:
  // Takes over the rows of the file, if there is one, up to this step.
  StepsFile(const std::filesystem::path& path, std::string header, std::uint64_t last_step);

  void add(std::string row) { rows_.push_back(std::move(row)); }
  // Writes the rows so far, unless these or more are on the disk. It may be called from any thread
  // and outlive this object. Throws Error.
  [[nodiscard]] std::function<void()> writer() const;
  void write() const { writer()(); }

 private:
  struct OnDisk;
  std::filesystem::path path_;
  std::string header_;
  std::vector<std::string> rows_;
  std::shared_ptr<OnDisk> on_disk_;
};

}  // namespace stoker
