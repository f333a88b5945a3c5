#include "stoker/store/local_store.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>

#include "stoker/core/atomic_file.h"
#include "stoker/core/error.h"
#include "stoker/core/input_file.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPiece = std::size_t{1} << 20;

[[noreturn]] void fail(const fs::path& path, std::string found) {
  throw Error({.what = "cannot read the file", .path = path.string(), .found = std::move(found)});
}

// Gives up to `most` bytes of a file; how many there were.
std::uint64_t pour(const InputFile& file, std::uint64_t begin, std::uint64_t most,
                   const ByteSink& sink) {
  most = std::min(most, file.size() - std::min(begin, file.size()));
  std::vector<std::byte> piece(std::min<std::uint64_t>(most, kPiece));
  for (std::uint64_t done = 0; done < most; done += piece.size()) {
    piece.resize(std::min<std::uint64_t>(most - done, piece.size()));
    sink(file.read(begin + done, piece).value());
  }
  return most;
}

}  // namespace

std::optional<ObjectFacts> LocalStore::look(const std::string& name) const {
  struct stat status {};
  const fs::path path = folder_ / name;
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    fail(path, std::generic_category().message(errno));
  }
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  return ObjectFacts{
      .bytes = static_cast<std::uint64_t>(status.st_size),
      .version = fmt::format("{}.{:09}", status.st_mtim.tv_sec, status.st_mtim.tv_nsec)};
}

void LocalStore::read(const ReadRequest& request, const ByteSink& sink) const {
  const fs::path path = folder_ / request.name;
  const InputFile file(path, "cannot read the file");
  const std::uint64_t most = request.length.value_or(request.at_most.value_or(UINT64_MAX - 1) + 1);
  const std::uint64_t done = pour(file, request.begin, most, sink);
  if (request.length && done < *request.length) {
    fail(path, fmt::format("{} bytes where {} were expected", done, *request.length));
  }
  if (!request.length && request.at_most && done > *request.at_most) {
    fail(path, fmt::format("more than {} bytes", *request.at_most));
  }
}

void LocalStore::write(const std::string& name, const fs::path& file) const {
  const fs::path target = folder_ / name;
  std::error_code ignored;  // writing tells
  fs::create_directories(target.parent_path(), ignored);
  AtomicFile out(target, "object");
  pour(InputFile(file, "cannot read the file"), 0, UINT64_MAX,
       [&](std::span<const std::byte> bytes) { out.write(bytes); });
  out.commit();
}

std::vector<std::string> LocalStore::list() const {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored)) names.push_back(entry->path().filename().string());
  }
  if (error) fail(folder_, error.message());
  std::ranges::sort(names);
  return names;
}

}  // namespace stoker
