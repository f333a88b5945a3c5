// ObjectCache: a folder with whole objects of remote stores, named by the digest of their bytes, so
// a file there is what its name says. Several processes share it: a lock for each object sees to
// it that one fetches and the others wait. Crash-safe: a file appears when it is whole and its
// digest is right; half a file is gone on with by whoever comes next.
//
// Where the files together pass the limit, those used longest ago are removed; who has one open
// keeps it. While several are fetched at once, the files can pass it by as many; afterwards they do
// not. Any thread may call any member.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>

#include "stoker/store/store.h"

namespace stoker {

struct CachedObject {
  std::string name;
  std::uint64_t bytes = 0;
  std::string digest = {};  // XXH3, 128 bits in hex
};

class ObjectCache {
 public:
  // An empty folder: a temporary one, removed with the object. Throws Error where it cannot be
  // made.
  ObjectCache(std::filesystem::path folder, std::uint64_t limit_bytes);
  ~ObjectCache();
  ObjectCache(const ObjectCache&) = delete;
  ObjectCache& operator=(const ObjectCache&) = delete;

  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }

  // The path of the object's file, fetched where it is not there. It may be removed by another
  // process as soon as this returns: open it at once, and call again where that fails. Bytes with
  // another digest are fetched anew, kTries times in all. Throws Error.
  [[nodiscard]] std::filesystem::path bring(const Store& store, const CachedObject& object,
                                            const std::stop_token& stop) const;
  // The same for an object whose digest nobody knows yet.
  [[nodiscard]] CachedObject bring_unknown(const Store& store, const std::string& name,
                                           const std::stop_token& stop) const;
  [[nodiscard]] std::filesystem::path path_of(const CachedObject& object) const;

  static constexpr int kTries = 3;

 private:
  void make_room(std::uint64_t bytes, const std::filesystem::path& fetched = {}) const;

  std::filesystem::path folder_;
  std::uint64_t limit_bytes_;
  bool temporary_ = false;
};

}  // namespace stoker
