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
#include "stoker/data/shards/shard_options.h"
#include "stoker/data/shards/shard_pool.h"
#include "stoker/store/object_cache.h"
#include "stoker/store/store.h"

namespace stoker {

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
