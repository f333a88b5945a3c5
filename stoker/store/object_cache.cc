#include "stoker/store/object_cache.h"

#include <algorithm>
#include <array>
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
// Objects that are fetched at the same time may take the room, and then give it back.
constexpr std::chrono::milliseconds kPauseOnFullDisk{50};

class DiskFull : public Error {
 public:
  using Error::Error;
};

[[noreturn]] void fail(const fs::path& path, int error) {
  const ErrorDetails details = {.what = "cannot use the cache of objects",
                                .path = path.string(),
                                .found = std::generic_category().message(error),
                                .hint = "Check the folder, or name another with `cache_dir`."};
  if (error == ENOSPC || error == EDQUOT) throw DiskFull(details);
  throw Error(details);
}

// An open file under an exclusive lock, which ends with the process at the latest.
class LockedFile {
 public:
  // Nothing where another process holds the lock, and the file has not changed for `patience`: it
  // hangs, is stopped, or its store is silent.
  static std::optional<LockedFile> take(const fs::path& path, std::chrono::milliseconds patience,
                                        const std::stop_token& stop) {
    while (true) {
      LockedFile file(path);
      if (!file.lock(patience, stop)) return std::nullopt;
      // Whoever held it may have put it in its place meanwhile.
      if (file.still_there()) return file;
    }
  }
  ~LockedFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  LockedFile(LockedFile&& other) noexcept
      : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] const fs::path& path() const noexcept { return path_; }

 private:
  explicit LockedFile(const fs::path& path)
      : path_(path),
        descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
    if (descriptor_ < 0) fail(path, errno);
  }
  // Asks again and again: a wait in the kernel could not be given up.
  [[nodiscard]] bool lock(std::chrono::milliseconds patience, const std::stop_token& stop) const {
    auto changed = std::chrono::steady_clock::now();
    struct stat before = status();
    while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) fail(path_, errno);
      if (stop.stop_requested()) fail(path_, ECANCELED);
      std::this_thread::sleep_for(5ms);
      const auto now = std::chrono::steady_clock::now();
      const struct stat after = status();
      if (after.st_size != before.st_size) changed = now;
      if (now - changed > patience) return false;
      before = after;
    }
    return true;
  }
  [[nodiscard]] struct stat status() const {
    struct stat found {};
    if (::fstat(descriptor_, &found) != 0) fail(path_, errno);
    return found;
  }
  [[nodiscard]] bool still_there() const {
    const struct stat ours = status();
    struct stat there {};
    return ::stat(path_.c_str(), &there) == 0 && ours.st_ino == there.st_ino &&
           ours.st_dev == there.st_dev;
  }
  fs::path path_;
  int descriptor_ = -1;
};

// Half an object, to be completed: the first whose lock can be had. Usually there is one; where a
// process hangs with it, the next one begins another, which all who come later share.
LockedFile take_part(const fs::path& folder, const std::string& name,
                     std::chrono::milliseconds patience, const std::stop_token& stop) {
  constexpr int kMostParts = 4;
  for (int i = 1; i <= kMostParts; ++i) {
    const std::string number = i == 1 ? "" : fmt::format(".{}", i);
    if (auto file = LockedFile::take(folder / (name + number + ".part"), patience, stop)) {
      return std::move(*file);
    }
  }
  throw Error(
      {.what = "cannot use the cache of objects",
       .path = (folder / (name + ".part")).string(),
       .found = fmt::format("{} processes that hold its lock and do nothing", kMostParts),
       .hint =
           "End them (the command lslocks lists them), or name another folder with `cache_dir`."});
}

// Who owns what this process writes in a folder: on network file systems not always its user.
uid_t owner_of_new_files(const fs::path& folder) {
  std::string name = (folder / ".owner-XXXXXX").string();
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) return ::geteuid();
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0;
  ::close(descriptor);
  ::unlink(name.c_str());
  return known ? status.st_uid : ::geteuid();
}

struct stat status_of_folder(const fs::path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) fail(folder, errno);
  return status;
}

// Makes the folder and its parents; it itself for this user alone.
void make_own_folder(const fs::path& folder) {
  std::error_code error;
  if (folder.has_parent_path()) fs::create_directories(folder.parent_path(), error);
  if (error) fail(folder, error.value());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) fail(folder, errno);
}

struct OwnedFolder {
  fs::path path;
  uid_t owner;
};

// The folder, or that of this user below it where others may write it.
OwnedFolder owned_folder(const fs::path& folder, bool below = false) {
  make_own_folder(folder);
  const struct stat status = status_of_folder(folder);
  OwnedFolder own{.path = folder, .owner = ::geteuid()};
  if (status.st_uid != own.owner) own.owner = owner_of_new_files(folder);
  const bool ours = status.st_uid == own.owner || status.st_uid == 0;
  // root works in folders of others, as containers do with what is mounted.
  if (!ours && (below || ::geteuid() != 0)) {
    throw Error({.what = "cannot use the cache of objects",
                 .path = folder.string(),
                 .expected = "a folder of this user",
                 .found = fmt::format("one of the user with the number {}", status.st_uid),
                 .hint = "Its owner could give you other data. Name another folder with "
                         "`cache_dir`."});
  }
  if (ours && (status.st_mode & S_IWOTH) == 0) return own;
  if (!below) return owned_folder(folder / fmt::format("stoker-{}", ::geteuid()), true);
  throw Error({.what = "cannot use the cache of objects",
               .path = folder.string(),
               .expected = "a folder that only this user may write",
               .found = "one that everybody may write",
               .hint = "Remove it, or name another folder with `cache_dir`."});
}

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
                     std::optional<std::uint64_t> bytes, const LockedFile& file,
                     const std::stop_token& stop) {
  const fs::path& part = file.path();
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

// Bytes that are missing of an object, and that the disk has left. None where nobody can tell.
struct DiskSpace {
  std::uintmax_t needed = 0, available = 0;
};

DiskSpace space_for(const fs::path& folder, const CachedObject& object, const LockedFile& file) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  const std::uintmax_t have = error ? 0 : fs::file_size(file.path(), error);
  if (error || object.bytes <= have) return {};
  return {.needed = object.bytes - have, .available = space.available};
}

// A manifest may name any size: nothing is fetched, or removed for it, that the disk could not
// hold.
void check_space(const fs::path& folder, const CachedObject& object, const LockedFile& file,
                 std::uint64_t to_be_removed) {
  const DiskSpace space = space_for(folder, object, file);
  if (space.needed <= space.available + to_be_removed) return;
  throw DiskFull(ErrorDetails{
      .what = "no space for an object of the store",
      .path = folder.string(),
      .expected = fmt::format("{} free bytes for {}", space.needed, object.name),
      .found = fmt::format("{}", space.available),
      .hint = "Name a folder on another disk with `cache_dir`, or lower `cache_size`."});
}

// Open before it is in its place, where another process may remove it at once.
InputFile put_in_place(const fs::path& part, const fs::path& whole) {
  InputFile file(part);
  if (::rename(part.c_str(), whole.c_str()) != 0) fail(whole, errno);
  file.set_path(whole);
  return file;
}

// By the time of access: to a process that reads the file, one of change would mean other content.
void mark_used(const fs::path& path) {
  const std::array<timespec, 2> times{{{.tv_sec = 0, .tv_nsec = UTIME_NOW},  // of access
                                       {.tv_sec = 0, .tv_nsec = UTIME_OMIT}}};
  ::utimensat(AT_FDCWD, path.c_str(), times.data(), 0);  // a hint: it may fail
}

using Time = std::pair<std::int64_t, std::int64_t>;  // seconds, nanoseconds

Time time_of_use(const struct stat& status) {
  const timespec &read = status.st_atim, &written = status.st_mtim;
  return std::max(Time(read.tv_sec, read.tv_nsec), Time(written.tv_sec, written.tv_nsec));
}

}  // namespace

ObjectCache::ObjectCache(fs::path folder, std::uint64_t limit_bytes,
                         std::chrono::milliseconds patience)
    : folder_(std::move(folder)),
      limit_bytes_(limit_bytes),
      patience_(patience),
      owner_(::geteuid()) {
  if (folder_.empty()) {
    std::string name = (fs::temp_directory_path() / "stoker-objects-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) fail(name, errno);
    folder_ = name;
    temporary_ = true;
    return;
  }
  OwnedFolder own = owned_folder(folder_);
  folder_ = std::move(own.path);
  owner_ = own.owner;
}

ObjectCache::~ObjectCache() {
  std::error_code ignored;
  if (temporary_) fs::remove_all(folder_, ignored);
}

fs::path ObjectCache::path_of(const CachedObject& object) const {
  return folder_ / (object.digest + kWhole);
}

void ObjectCache::discard(const CachedObject& object) const {
  const fs::path path = path_of(object);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail(path, errno);
}

// All of the object, written by this user.
bool ObjectCache::is_whole(const fs::path& path, std::uint64_t bytes) const {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return false;
  return S_ISREG(status.st_mode) && (status.st_uid == owner_ || status.st_uid == 0) &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
         static_cast<std::uint64_t>(status.st_size) == bytes;
}

// Nothing where it is not there. A file that is not whole is removed.
std::optional<InputFile> ObjectCache::open_kept(const CachedObject& object) const {
  const fs::path path = path_of(object);
  std::error_code missing;
  if (!fs::exists(fs::symlink_status(path, missing))) return std::nullopt;
  if (!is_whole(path, object.bytes)) {
    discard(object);
    return std::nullopt;
  }
  auto file = InputFile::open(path);
  if (!file) return std::nullopt;  // another process has removed it just now
  return std::move(*file);
}

InputFile ObjectCache::bring(const Store& store, const CachedObject& object,
                             const std::stop_token& stop) const {
  const fs::path whole = path_of(object);
  for (int tries = 0; tries < kTries; ++tries) {
    if (auto kept = open_kept(object)) {
      mark_used(whole);
      return std::move(*kept);
    }
    const LockedFile file = take_part(folder_, object.digest, patience_, stop);
    if (auto kept = open_kept(object)) {  // the one that had the lock has brought it
      std::error_code ignored;
      fs::remove(file.path(), ignored);
      return std::move(*kept);
    }
    // One that is larger than the cache makes room once it is there: its size is what a manifest
    // says, which may be wrong.
    const bool fits = object.bytes <= limit_bytes_;
    std::string digest;
    try {
      check_space(folder_, object, file, fits ? bytes_of(kept_objects()) : 0);
      if (fits) make_room(object.bytes, stop);
      digest = complete(store, object.name, object.bytes, file, stop);
    } catch (const DiskFull&) {
      if (!fits || tries + 1 == kTries) throw;
      const DiskSpace space = space_for(folder_, object, file);
      if (space.needed > space.available) remove_oldest(stop);
      std::this_thread::sleep_for(kPauseOnFullDisk);
      continue;
    }
    if (digest != object.digest) {
      empty(file.path(), file.descriptor());
      continue;
    }
    if (!is_whole(file.path(), object.bytes)) {  // half of it was somebody else's file
      fs::remove(file.path());
      continue;
    }
    InputFile opened = put_in_place(file.path(), whole);
    make_room(0, stop, whole);
    return opened;
  }
  throw Error({.what = "an object of the store is not what it should be",
               .path = object_path(store, object.name),
               .expected = fmt::format("{} bytes with the digest {}", object.bytes, object.digest),
               .found = fmt::format("others, {} times", kTries),
               .hint = "It was damaged or replaced: compare the manifest with the store."});
}

FetchedObject ObjectCache::bring_unknown(const Store& store, const std::string& name,
                                         const std::stop_token& stop) const {
  Digest key;
  key.add_text(store.where());
  key.add_text(name);
  const LockedFile file = take_part(folder_, key.hex() + ".new", patience_, stop);
  make_room(0, stop);
  CachedObject object{.name = name};
  object.digest = complete(store, name, std::nullopt, file, stop);
  object.bytes = fs::file_size(file.path());
  InputFile opened = put_in_place(file.path(), path_of(object));
  make_room(0, stop, path_of(object));
  return {std::move(object), std::move(opened)};
}

// One process at a time. What others fetch meanwhile does not count, so whoever has fetched looks
// again; what it fetched stays, even if it alone is larger than the limit. A process that hangs
// with the lock does not stop the others: they remove nothing.
void ObjectCache::make_room(std::uint64_t bytes, const std::stop_token& stop,
                            const fs::path& fetched) const {
  constexpr std::chrono::milliseconds kPatience = 2s;  // it is held for milliseconds
  const auto lock = LockedFile::take(folder_ / "lock", std::min(kPatience, patience_), stop);
  if (!lock) return;
  for (const Kept& object : beyond_limit(bytes, fetched)) {
    std::error_code ignored;
    fs::remove(object.path, ignored);
  }
}

// Where the disk has less than the limit.
void ObjectCache::remove_oldest(const std::stop_token& stop) const {
  const auto lock = LockedFile::take(folder_ / "lock", patience_, stop);
  if (!lock) return;
  const std::vector<Kept> kept = kept_objects();
  std::error_code ignored;
  if (!kept.empty()) fs::remove(kept.front().path, ignored);
}

// The ones used longest ago first.
std::vector<ObjectCache::Kept> ObjectCache::kept_objects() const {
  std::vector<Kept> kept;
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() != kWhole) continue;
    struct stat status {};
    if (::stat(entry->path().c_str(), &status) != 0) continue;  // another process removed it
    kept.push_back(
        {time_of_use(status), static_cast<std::uint64_t>(status.st_size), entry->path()});
  }
  std::ranges::sort(kept, {}, &Kept::used);
  return kept;
}

// What has to go so that `bytes` more are within the limit.
std::vector<ObjectCache::Kept> ObjectCache::beyond_limit(std::uint64_t bytes,
                                                         const fs::path& fetched) const {
  std::vector<Kept> kept = kept_objects();
  std::uint64_t total = bytes + bytes_of(kept);
  std::erase_if(kept, [&](const Kept& object) { return object.path == fetched; });
  auto first_to_stay = kept.begin();
  for (; first_to_stay != kept.end() && total > limit_bytes_; ++first_to_stay) {
    total -= first_to_stay->bytes;
  }
  kept.erase(first_to_stay, kept.end());
  return kept;
}

std::uint64_t ObjectCache::bytes_of(const std::vector<Kept>& objects) {
  std::uint64_t bytes = 0;
  for (const Kept& object : objects) bytes += object.bytes;
  return bytes;
}

}  // namespace stoker
