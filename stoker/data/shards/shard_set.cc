#include "stoker/data/shards/shard_set.h"

#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/digest.h"
#include "stoker/core/error.h"
#include "stoker/store/open_store.h"

namespace stoker {
namespace {

constexpr std::uint64_t kMaxManifest = std::uint64_t{4} << 30;
constexpr int kManifestTries = 4;

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

void check_digest(const MappedFile& file, const CachedObject& object, const std::string& path) {
  Digest digest;
  digest.add(file.bytes());
  if (digest.hex() == object.digest) return;
  throw Error({.what = "the index of a shard is not the manifest's",
               .path = path,
               .expected = "digest " + object.digest,
               .found = digest.hex(),
               .hint = "Write the shards again, or fetch both again."});
}

// Nobody knows its digest before it is read, so what a network broke is seen only now.
ShardManifest read_manifest(const Store& store, int tries) {
  while (true) {
    try {
      return parse_manifest(read_text(store, kManifestName, kMaxManifest),
                            object_path(store, kManifestName));
    } catch (const Error&) {
      if (--tries == 0) throw;
    }
  }
}

}  // namespace

ShardSet::ShardSet(ShardManifest manifest, std::shared_ptr<const Store> shards,
                   std::shared_ptr<const Store> indexes, std::shared_ptr<const ObjectCache> cache)
    : manifest_(std::move(manifest)),
      shards_(std::move(shards)),
      indexes_(std::move(indexes)),
      cache_(std::move(cache)) {}

bool ShardSet::remote() const { return !shards_->local_path(kManifestName); }

std::shared_ptr<const ShardSet> ShardSet::part(std::span<const std::uint32_t> shards) const {
  ShardManifest some{.class_names = manifest_.class_names,
                     .shape = manifest_.shape,
                     .shards = {},
                     .fields = manifest_.fields};
  for (const std::uint32_t shard : shards) some.shards.push_back(manifest_.shards.at(shard));
  return std::make_shared<ShardSet>(std::move(some), shards_, indexes_, cache_);
}

// A file of the cache may be removed between being brought and being opened.
MappedFile ShardSet::map(const Store& store, const CachedObject& object,
                         const std::stop_token& stop) const {
  if (const auto path = store.local_path(object.name)) return MappedFile(*path);
  for (int tries = 1; tries < ObjectCache::kTries; ++tries) {
    try {
      return MappedFile(cache_->bring(store, object, stop));
    } catch (const Error&) {
      if (std::filesystem::exists(cache_->path_of(object)) || stop.stop_requested()) throw;
    }
  }
  return MappedFile(cache_->bring(store, object, stop));
}

ShardPool::Shard ShardSet::open(std::uint32_t shard, const std::stop_token& stop) const {
  const ShardFacts& facts = manifest_.shards.at(shard);
  const CachedObject index{index_name(facts.name), facts.index_bytes, facts.index_digest};
  const CachedObject tar{facts.name, facts.bytes, facts.digest};
  const std::string index_path = object_path(*indexes_, index.name);
  const MappedFile index_file = map(*indexes_, index, stop);
  check_digest(index_file, index, index_path);
  auto opened = std::make_shared<OpenShard>();
  opened->index =
      parse_shard_index(text_of(index_file),
                        {.bytes = facts.bytes,
                         .classes = static_cast<std::int32_t>(manifest_.class_names.size()),
                         .fields = manifest_.fields},
                        index_path);
  opened->file = map(*shards_, tar, stop);
  if (opened->index.samples.size() == facts.samples && opened->file.bytes().size() == facts.bytes) {
    return opened;
  }
  throw Error({.what = "a shard is not what the manifest says",
               .path = object_path(*shards_, facts.name),
               .expected = fmt::format("{} samples in {} bytes", facts.samples, facts.bytes),
               .found = fmt::format("{} in {}", opened->index.samples.size(),
                                    opened->file.bytes().size())});
}

std::shared_ptr<const ObjectCache> open_object_cache(const ShardOptions& options) {
  std::filesystem::path folder = options.cache_folder.value_or("");
  if (!options.cache_folder) {
    const std::filesystem::path user = user_cache_folder(options.store.environment);
    if (!user.empty()) folder = user / "stoker" / "shards";
  }
  return std::make_shared<ObjectCache>(folder, options.cache_bytes);
}

std::shared_ptr<const ShardSet> open_shard_set(const std::string& folder,
                                               const ShardOptions& options) {
  const auto store = open_store(folder, options.store);
  const bool local = store->local_path(kManifestName).has_value();
  auto manifest = read_manifest(*store, local ? 1 : kManifestTries);
  return std::make_shared<ShardSet>(std::move(manifest), store, store,
                                    local ? nullptr : open_object_cache(options));
}

}  // namespace stoker
