// ShardSet: a manifest, and the stores in which its shards and their indexes lie. Immutable; any
// thread may open shards.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "stoker/data/shards/shard_manifest.h"
#include "stoker/data/shards/shard_pool.h"
#include "stoker/store/object_cache.h"
#include "stoker/store/open_store.h"

namespace stoker {

struct ShardOptions {
  std::uint32_t window = 16;  // how many shards of a lane are mixed
  // In how many parts shards are dealt out, each read by itself: with as many as there are ranks,
  // or a multiple, every rank reads other shards.
  std::uint32_t lanes = 1;
  // Where objects of remote stores and indexes of foreign shards are kept; nothing: the user's
  // cache folder, and a temporary one where there is none.
  std::optional<std::filesystem::path> cache_folder = {};
  std::uint64_t cache_bytes = std::uint64_t{64} << 30;
  int fetchers = 4;  // shards under way at once
  StoreOptions store = {};
};

class ShardSet {
 public:
  ShardSet(ShardManifest manifest, std::shared_ptr<const Store> shards,
           std::shared_ptr<const Store> indexes, std::shared_ptr<const ObjectCache> cache);

  [[nodiscard]] const ShardManifest& manifest() const noexcept { return manifest_; }
  [[nodiscard]] std::string where() const { return shards_->where(); }
  [[nodiscard]] bool remote() const;
  // These shards alone, by their places in the manifest.
  [[nodiscard]] std::shared_ptr<const ShardSet> part(std::span<const std::uint32_t> shards) const;
  // Maps the shard and reads its index, brought into the cache first where they are remote. Throws
  // Error where they are not what the manifest says.
  [[nodiscard]] ShardPool::Shard open(std::uint32_t shard, const std::stop_token& stop) const;

 private:
  [[nodiscard]] MappedFile map(const Store& store, const CachedObject& object,
                               const std::stop_token& stop) const;

  ShardManifest manifest_;
  std::shared_ptr<const Store> shards_, indexes_;
  std::shared_ptr<const ObjectCache> cache_;
};

// The set whose manifest lies at `folder` (of a store) under kManifestName. Throws Error.
[[nodiscard]] std::shared_ptr<const ShardSet> open_shard_set(const std::string& folder,
                                                             const ShardOptions& options);

// Where the options say that objects are kept.
[[nodiscard]] std::shared_ptr<const ObjectCache> open_object_cache(const ShardOptions& options);

}  // namespace stoker
