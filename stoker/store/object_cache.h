// ObjectCache: a folder with whole objects of remote stores, named by the digest of their bytes, so
// a file there is what its name says. Several processes share it: a lock for each object sees to
// it that one fetches and the others wait, as long as its file grows. Crash-safe: a file appears
// when it is whole and its digest is right; half a file is gone on with by whoever comes next.
//
// Processes of one user share a folder, users do not: a folder must belong to this user or to root,
// and files of others, or that others may write, are not used. In a folder that everybody may
// write, and for root in one of others, the cache is a folder below it, which only this user may
// enter. What else may go wrong with a file is damage: its length is compared here, its content by
// whoever reads it, who calls discard().
//
// Where the files together pass the limit, those used longest ago are removed; who has one open
// keeps it. While several are fetched at once, the files can pass it by as many; afterwards they do
// not. Where the disk has no room for that, more are removed. Any thread may call any member.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "stoker/core/input_file.h"
#include "stoker/store/store.h"

namespace stoker {

struct CachedObject {
  std::string name;
  std::uint64_t bytes = 0;
  std::string digest = {};  // XXH3, 128 bits in hex
};

struct FetchedObject {
  CachedObject object;
  InputFile file;
};

class ObjectCache {
 public:
  // An empty folder: a temporary one, removed with the object. Throws Error where it cannot be
  // made or belongs to somebody else. `patience`: after so long without progress of the process
  // that fetches an object, another one fetches it too.
  ObjectCache(std::filesystem::path folder, std::uint64_t limit_bytes,
              std::chrono::milliseconds patience = std::chrono::seconds(20));
  ~ObjectCache();
  ObjectCache(const ObjectCache&) = delete;
  ObjectCache& operator=(const ObjectCache&) = delete;

  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }

  // The object's file, fetched where it is not there, and open: another process may remove it from
  // the folder as soon as it is there. Bytes with another digest are fetched anew, kTries times in
  // all. Throws Error.
  [[nodiscard]] InputFile bring(const Store& store, const CachedObject& object,
                                const std::stop_token& stop) const;
  // The same for an object whose digest nobody knows yet.
  [[nodiscard]] FetchedObject bring_unknown(const Store& store, const std::string& name,
                                            const std::stop_token& stop) const;
  // Whether bring() would find its file now. Looks at its length alone.
  [[nodiscard]] bool has(const CachedObject& object) const {
    return is_whole(path_of(object), object.bytes);
  }
  [[nodiscard]] std::filesystem::path path_of(const CachedObject& object) const;
  // The file is not what its name says: it is fetched anew when it is needed next.
  void discard(const CachedObject& object) const;

  // Where three answers in ten are wrong, one object in 15,000 stays so.
  static constexpr int kTries = 8;

 private:
  struct Kept {
    std::pair<std::int64_t, std::int64_t> used;  // seconds, nanoseconds
    std::uint64_t bytes;
    std::filesystem::path path;
  };
  [[nodiscard]] std::vector<Kept> kept_objects() const;
  void remove_oldest(const std::stop_token& stop) const;
  [[nodiscard]] std::vector<Kept> beyond_limit(std::uint64_t bytes,
                                               const std::filesystem::path& fetched = {}) const;
  [[nodiscard]] static std::uint64_t bytes_of(const std::vector<Kept>& objects);
  void make_room(std::uint64_t bytes, const std::stop_token& stop,
                 const std::filesystem::path& fetched = {}) const;
  [[nodiscard]] bool is_whole(const std::filesystem::path& path, std::uint64_t bytes) const;
  [[nodiscard]] std::optional<InputFile> open_kept(const CachedObject& object) const;

  std::filesystem::path folder_;
  std::uint64_t limit_bytes_;
  std::chrono::milliseconds patience_;
  uid_t owner_;  // of what this process writes there
  bool temporary_ = false;
};

}  // namespace stoker
