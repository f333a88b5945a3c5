#include "stoker/run/run_folder.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "stoker/core/atomic_file.h"
#include "stoker/core/error.h"
#include "stoker/core/plain_text.h"
#include "stoker/io/checkpoint.h"
#include "stoker/run/append_to_file.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const char* what, const fs::path& path, std::string found,
                       std::string hint = {}) {
  throw Error(
      {.what = what, .path = path.string(), .found = std::move(found), .hint = std::move(hint)});
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) fail("cannot make the run's folder", path, error.message());
}

// False where it already exists.
bool make_new_folder(const fs::path& path) {
  std::error_code error;
  const bool made = fs::create_directory(path, error);
  if (error) fail("cannot make the run's folder", path, error.message());
  return made;
}

int lock_folder(const fs::path& path) {
  const int descriptor =
      ::open((path / ".lock").c_str(), O_CREAT | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (descriptor < 0) fail("cannot lock the run", path, std::strerror(errno));
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  const int error = errno;
  ::close(descriptor);
  if (error == EWOULDBLOCK) {
    fail("the run is in use", path, "another process that trains it", "Wait for it to end");
  }
  fail("cannot lock the run", path, std::strerror(error));
}

}  // namespace

RunFolder::RunFolder(fs::path path)
    : path_(std::move(path)), own_(path_), lock_(lock_folder(path_)) {
  make_folder(path_ / "weights");
  remove_unfinished_files(path_);
  remove_unfinished_files(path_ / "weights");
}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : path_(std::move(other.path_)),
      own_(std::move(other.own_)),
      lock_(std::exchange(other.lock_, -1)),
      listener_(std::move(other.listener_)),
      wording_(std::move(other.wording_)) {}

RunFolder::~RunFolder() {
  if (lock_ >= 0) ::close(lock_);
}

fs::path RunFolder::path_of(const fs::path& output, const std::string& name) {
  const fs::path relative = name;
  const bool leaves =
      relative.is_absolute() || std::ranges::any_of(relative, [](const fs::path& part) {
        return part == ".." || part == ".";
      });
  if (!leaves) return output / relative;
  throw OptionError(
      {.what = "a run stays in the folder `output`",
       .expected = fmt::format("a name for `experiment`, of a folder in {}", output.string()),
       .found = fmt::format("\"{}\"", name),
       .hint = "Choose another folder with `output`."});
}

RunFolder RunFolder::create(const fs::path& output, const std::string& name,
                            const std::string& default_name) {
  make_folder(output);
  if (!name.empty()) {
    const fs::path path = path_of(output, name);
    if (!make_new_folder(path)) {
      fail("run already exists", path, "",
           fmt::format("Resume with `resume={}`, or choose another `experiment`", path.string()));
    }
    return RunFolder(path);
  }
  for (int number = 1;; ++number) {
    const fs::path path =
        output / (number == 1 ? default_name : fmt::format("{}-{}", default_name, number));
    if (make_new_folder(path)) return RunFolder(path);
  }
}

RunFolder RunFolder::create_or_take(const fs::path& output, const std::string& name) {
  const fs::path path = path_of(output, name);
  make_folder(path);
  return RunFolder(path);
}

bool RunFolder::is_there(const fs::path& output, const std::string& name) {
  std::error_code ignored;
  return fs::exists(path_of(output, name) / "args.yaml", ignored);
}

RunFolder RunFolder::open(const fs::path& output, const std::string& run) {
  for (const fs::path& path : {fs::path(run), output / run}) {
    std::error_code ignored;
    if (fs::exists(path / "args.yaml", ignored)) return RunFolder(path);
  }
  throw Error({.what = "no run to resume",
               .path = run,
               .expected = "the folder of a run, with args.yaml in it",
               .found = fs::exists(run) ? "a folder without it" : "nothing"});
}

fs::path RunFolder::weights(const char* which) const {
  return path_ / "weights" / fmt::format("{}.safetensors", which);
}

void RunFolder::say(const std::string& line) {
  const std::string text = plain_lines(wording_ ? wording_(line) : line);
  if (listener_) listener_(text);
  append_to_file(path_ / "log.txt", text + "\n");
}

ResultsTable::ResultsTable(fs::path path, std::string header)
    : path_(std::move(path)), header_(std::move(header)) {}

std::uint32_t ResultsTable::read_rows_before(std::uint32_t epoch) {
  std::ifstream file(path_);
  std::string line;
  std::getline(file, line);  // the header
  while (std::getline(file, line)) {
    std::uint32_t number = 0;  // counted from 1
    const char* end = line.data() + line.size();
    const auto read = std::from_chars(line.data(), end, number);
    const bool is_row = read.ec == std::errc{} && read.ptr != end && *read.ptr == ',';
    if (is_row && number >= 1 && number <= epoch) rows_[number - 1] = line;
  }
  return epoch - static_cast<std::uint32_t>(rows_.size());
}

void ResultsTable::add(std::uint32_t epoch, const std::string& row) {
  rows_.erase(rows_.lower_bound(epoch), rows_.end());
  rows_[epoch] = row;
  // Rows lost with an old file leave gaps.
  std::string text = header_ + "\n";
  for (const auto& [number, line] : rows_) text += line + "\n";
  write_whole_file(path_, text, "table of results");
}

}  // namespace stoker
