#include "stoker/store/object_cache.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stoker/core/digest.h"
#include "stoker/core/error.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr const char* kWhole = ".object";

[[noreturn]] void fail(const fs::path& path, int error) {
  throw Error({.what = "cannot use the cache of objects",
               .path = path.string(),
               .found = std::generic_category().message(error),
               .hint = "Check the folder, or name another with `cache_dir`."});
}

// An open file under an exclusive lock, which ends with the process at the latest.
class LockedFile {
 public:
  LockedFile(const fs::path& path, const std::stop_token& stop) {
    while (true) {
      descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
      if (descriptor_ < 0) fail(path, errno);
      lock(path, stop);
      if (still_there(path)) return;
      ::close(descriptor_);  // whoever held it has put it in its place meanwhile
    }
  }
  ~LockedFile() { ::close(descriptor_); }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  // Asks again and again: a wait in the kernel could not be given up.
  void lock(const fs::path& path, const std::stop_token& stop) const {
    while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) fail(path, errno);
      if (stop.stop_requested()) fail(path, ECANCELED);
      std::this_thread::sleep_for(5ms);
    }
  }
  [[nodiscard]] bool still_there(const fs::path& path) const {
    struct stat ours {
    }, there{};
    return ::fstat(descriptor_, &ours) == 0 && ::stat(path.c_str(), &there) == 0 &&
           ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
  }
  int descriptor_ = -1;
};

void append(const fs::path& path, int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(path, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

// Digests what an earlier process has left of the file; its length.
std::uint64_t digest_part(const fs::path& path, int descriptor, Digest& digest) {
  std::vector<std::byte> piece(std::size_t{1} << 20);
  std::uint64_t length = 0;
  while (true) {
    const ssize_t got = ::read(descriptor, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, errno);
    if (got == 0) return length;
    digest.add(std::span(piece).first(static_cast<std::size_t>(got)));
    length += static_cast<std::uint64_t>(got);
  }
}

void empty(const fs::path& path, int descriptor) {
  if (::ftruncate(descriptor, 0) != 0 || ::lseek(descriptor, 0, SEEK_SET) != 0) fail(path, errno);
}

// From where the file ends to the end of the object. The digest of all of it.
std::string complete(const Store& store, const std::string& name,
                     std::optional<std::uint64_t> bytes, const fs::path& part,
                     const LockedFile& file, const std::stop_token& stop) {
  std::optional<Digest> digest(std::in_place);
  std::uint64_t have = digest_part(part, file.descriptor(), *digest);
  if (!bytes || have > *bytes) {
    empty(part, file.descriptor());
    digest.emplace();
    have = 0;
  }
  if (have != bytes) {
    ReadRequest request{.name = name, .begin = have, .stop = stop};
    if (bytes) request.length = *bytes - have;
    store.read(request, [&](std::span<const std::byte> piece) {
      append(part, file.descriptor(), piece);
      digest->add(piece);
    });
  }
  if (::fsync(file.descriptor()) != 0) fail(part, errno);
  return digest->hex();
}

void put_in_place(const fs::path& part, const fs::path& whole) {
  if (::rename(part.c_str(), whole.c_str()) != 0) fail(whole, errno);
}

void mark_used(const fs::path& path) {
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // a hint: it may fail
}

}  // namespace

ObjectCache::ObjectCache(fs::path folder, std::uint64_t limit_bytes)
    : folder_(std::move(folder)), limit_bytes_(limit_bytes) {
  if (folder_.empty()) {
    std::string name = (fs::temp_directory_path() / "stoker-objects-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) fail(name, errno);
    folder_ = name;
    temporary_ = true;
  }
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) fail(folder_, error.value());
}

ObjectCache::~ObjectCache() {
  std::error_code ignored;
  if (temporary_) fs::remove_all(folder_, ignored);
}

fs::path ObjectCache::path_of(const CachedObject& object) const {
  return folder_ / (object.digest + kWhole);
}

fs::path ObjectCache::bring(const Store& store, const CachedObject& object,
                            const std::stop_token& stop) const {
  fs::path whole = path_of(object);
  const fs::path part = folder_ / (object.digest + ".part");
  std::error_code ignored;
  for (int tries = 0; tries < kTries; ++tries) {
    if (fs::exists(whole, ignored)) {
      mark_used(whole);
      return whole;
    }
    const LockedFile file(part, stop);
    if (fs::exists(whole, ignored)) {  // the one that had the lock has brought it
      fs::remove(part, ignored);
      return whole;
    }
    make_room(object.bytes);
    const std::string digest = complete(store, object.name, object.bytes, part, file, stop);
    if (digest == object.digest) {
      put_in_place(part, whole);
      make_room(0, whole);
      return whole;
    }
    empty(part, file.descriptor());
  }
  throw Error({.what = "an object of the store is not what it should be",
               .path = object_path(store, object.name),
               .expected = fmt::format("{} bytes with the digest {}", object.bytes, object.digest),
               .found = fmt::format("others, {} times", kTries),
               .hint = "It was damaged or replaced: compare the manifest with the store."});
}

CachedObject ObjectCache::bring_unknown(const Store& store, const std::string& name,
                                        const std::stop_token& stop) const {
  Digest key;
  key.add_text(store.where());
  key.add_text(name);
  const fs::path part = folder_ / (key.hex() + ".new.part");
  const LockedFile file(part, stop);
  make_room(0);
  CachedObject object{.name = name};
  object.digest = complete(store, name, std::nullopt, part, file, stop);
  object.bytes = fs::file_size(part);
  put_in_place(part, path_of(object));
  make_room(0, path_of(object));
  return object;
}

// One process at a time. What others fetch meanwhile does not count, so whoever has fetched looks
// again; what it fetched stays, even if it alone is larger than the limit.
void ObjectCache::make_room(std::uint64_t bytes, const fs::path& fetched) const {
  const LockedFile lock(folder_ / "lock", {});
  struct Kept {
    fs::file_time_type used;
    std::uint64_t bytes;
    fs::path path;
  };
  std::vector<Kept> kept;
  std::uint64_t total = bytes;
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() != kWhole) continue;
    std::error_code gone;
    const std::uint64_t size = entry->file_size(gone);
    const auto used = entry->last_write_time(gone);
    if (gone) continue;
    if (entry->path() != fetched) kept.push_back({used, size, entry->path()});
    total += size;
  }
  std::ranges::sort(kept, {}, &Kept::used);
  for (const Kept& object : kept) {
    if (total <= limit_bytes_) return;
    std::error_code ignored;
    fs::remove(object.path, ignored);
    total -= object.bytes;
  }
}

}  // namespace stoker
