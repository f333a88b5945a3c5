// ShardSet: a manifest, and the stores in which its shards and their indexes lie. Immutable; any
// thread may open shards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

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
  // The index of a shard, brought into the cache first where it is remote; what is damaged there is
  // brought again. Throws Error where it is not what the manifest says.
  [[nodiscard]] ShardIndex index(std::uint32_t shard, const std::stop_token& stop) const;
  // Opens the shard and reads its index, brought into the cache first where they are remote; what
  // is damaged there is brought again. Throws Error where they are not what the manifest says.
  [[nodiscard]] ShardPool::Shard open(std::uint32_t shard, const std::stop_token& stop) const;

  // Whether open() would find the shard on this machine.
  [[nodiscard]] bool is_here(std::uint32_t shard) const;
  // Some bytes of a remote shard, from the store itself. Throws Error, also where the store would
  // send more than these.
  [[nodiscard]] std::vector<std::byte> read_range(std::uint32_t shard, std::uint64_t offset,
                                                  std::uint32_t length,
                                                  const std::stop_token& stop) const;

  // Whether the cache's file of a remote shard is no longer what the manifest says. Reads all of
  // it.
  [[nodiscard]] bool is_damaged(std::uint32_t shard, const OpenShard& opened) const;
  // It is brought again when it is opened next.
  void discard(std::uint32_t shard) const;

 private:
  [[nodiscard]] InputFile open_object(const Store& store, const CachedObject& object,
                                      const std::stop_token& stop) const;
  [[nodiscard]] FileBytes read_index(const CachedObject& index, const std::stop_token& stop) const;

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
