#include "stoker/run/steps_file.h"

#include <charconv>
#include <fstream>
#include <mutex>
#include <optional>

#include "stoker/core/atomic_file.h"

namespace stoker {

struct StepsFile::OnDisk {
  std::mutex mutex;
  std::optional<std::size_t> rows;  // none: nothing was written by this process
};

StepsFile::StepsFile(const std::filesystem::path& path, std::string header, std::uint64_t last_step)
    : path_(path), header_(std::move(header)), on_disk_(std::make_shared<OnDisk>()) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);  // the header
  while (std::getline(file, line)) {
    std::uint64_t step = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), step).ec != std::errc{}) break;
    if (step > last_step) break;
    rows_.push_back(line);
  }
}

std::function<void()> StepsFile::writer() const {
  std::string text = header_ + "\n";
  for (const std::string& row : rows_) text += row + "\n";
  return [path = path_, text = std::move(text), rows = rows_.size(), on_disk = on_disk_] {
    const std::lock_guard lock(on_disk->mutex);
    if (on_disk->rows && *on_disk->rows >= rows) return;
    write_whole_file(path, text, "table of steps");
    on_disk->rows = rows;
  };
}

}  // namespace stoker
