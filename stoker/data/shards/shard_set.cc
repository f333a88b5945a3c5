#include "stoker/data/shards/shard_set.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "stoker/core/digest.h"
#include "stoker/core/error.h"
#include "stoker/store/open_store.h"

namespace stoker {
namespace {

constexpr std::uint64_t kMaxManifest = std::uint64_t{4} << 30;
constexpr int kManifestTries = 4;

// Empty where the file cannot be read to its end.
std::string shard_digest(const InputFile& file) {
  Digest digest;
  std::vector<std::byte> part(std::size_t{1} << 20);
  for (std::uint64_t offset = 0; offset < file.size(); offset += part.size()) {
    const std::size_t count = std::min<std::uint64_t>(part.size(), file.size() - offset);
    auto bytes = file.read(offset, std::span(part).first(count));
    if (!bytes) return "";
    digest.add(*bytes);
  }
  return digest.hex();
}

CachedObject shard_object(const ShardFacts& facts) {
  return {facts.name, facts.bytes, facts.digest};
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

InputFile ShardSet::open_object(const Store& store, const CachedObject& object,
                                const std::stop_token& stop) const {
  if (const auto path = store.local_path(object.name)) return InputFile(*path);
  return cache_->bring(store, object, stop);
}

// An index is small: all of it is compared each time.
FileBytes ShardSet::read_index(const CachedObject& index, const std::stop_token& stop) const {
  FileBytes file(open_object(*indexes_, index, stop));
  std::string digest = digest_of(file.bytes());
  if (digest != index.digest && !indexes_->local_path(index.name)) {
    cache_->discard(index);
    file = FileBytes(open_object(*indexes_, index, stop));
    digest = digest_of(file.bytes());
  }
  if (digest == index.digest) return file;
  throw Error({.what = "the index of a shard is not the manifest's",
               .path = object_path(*indexes_, index.name),
               .expected = "digest " + index.digest,
               .found = digest,
               .hint = "Write the shards again, or fetch both again."});
}

bool ShardSet::is_damaged(std::uint32_t shard, const OpenShard& opened) const {
  return remote() && shard_digest(opened.file) != manifest_.shards.at(shard).digest;
}

void ShardSet::discard(std::uint32_t shard) const {
  cache_->discard(shard_object(manifest_.shards.at(shard)));
}

bool ShardSet::is_here(std::uint32_t shard) const {
  return !remote() || cache_->has(shard_object(manifest_.shards.at(shard)));
}

std::vector<std::byte> ShardSet::read_range(std::uint32_t shard, std::uint64_t offset,
                                            std::uint32_t length,
                                            const std::stop_token& stop) const {
  std::vector<std::byte> bytes;
  bytes.reserve(length);
  shards_->read({.name = manifest_.shards.at(shard).name,
                 .begin = offset,
                 .length = length,
                 .stop = stop,
                 .range_alone = true},
                [&](std::span<const std::byte> piece) {
                  bytes.insert(bytes.end(), piece.begin(), piece.end());
                });
  return bytes;
}

ShardIndex ShardSet::index(std::uint32_t shard, const std::stop_token& stop) const {
  const ShardFacts& facts = manifest_.shards.at(shard);
  const CachedObject index{index_name(facts.name), facts.index_bytes, facts.index_digest};
  const FileBytes file = read_index(index, stop);
  return parse_shard_index(file.text(),
                           {.bytes = facts.bytes,
                            .classes = static_cast<std::int32_t>(manifest_.class_names.size()),
                            .fields = manifest_.fields},
                           object_path(*indexes_, index.name));
}

ShardPool::Shard ShardSet::open(std::uint32_t shard, const std::stop_token& stop) const {
  const ShardFacts& facts = manifest_.shards.at(shard);
  ShardIndex parsed = index(shard, stop);
  InputFile file = open_object(*shards_, shard_object(facts), stop);
  if (parsed.samples.size() == facts.samples && file.size() == facts.bytes) {
    return std::make_shared<OpenShard>(OpenShard{std::move(file), std::move(parsed)});
  }
  throw Error({.what = "a shard is not what the manifest says",
               .path = object_path(*shards_, facts.name),
               .expected = fmt::format("{} samples in {} bytes", facts.samples, facts.bytes),
               .found = fmt::format("{} in {}", parsed.samples.size(), file.size())});
}

std::shared_ptr<const ObjectCache> open_object_cache(const ShardOptions& options) {
  std::filesystem::path folder = options.cache_folder.value_or("");
  if (!options.cache_folder) {
    const std::filesystem::path user = user_cache_folder(options.store.environment);
    if (!user.empty()) folder = user / "stoker" / "shards";
  }
  return std::make_shared<ObjectCache>(folder, options.cache_bytes, options.store.retry.stall);
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
