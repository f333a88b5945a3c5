// What a set of shards holds: one text for all of them, read first. A line a shard, so a hundred
// thousand shards are some ten megabytes and a tenth of a second.
//
//   #stoker-shards  1
//   #classes  cat  dog              absent: samples without classes
//   #shape  28  28  1               height, width, channels; absent: images differ
//   #field  target  angle  size     fields of the samples, with the names of their numbers
//   name  samples  bytes  digest  bytes of the index  digest of the index
//   #digest  <of all lines above>   so that half a manifest is none
//
// with tabs between the fields. The version is 2 where samples have fields: programs that do not
// know them refuse such shards. Digests are XXH3's 128 bits. Manifests are not trusted: a parsed
// one has sums that fit and names that stay in their folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/sources/fields.h"
#include "stoker/image/image.h"

namespace stoker {

inline constexpr const char* kManifestName = "manifest.tsv";

struct ShardFacts {
  std::string name;
  std::uint64_t samples = 0, bytes = 0;
  std::string digest = {};
  std::uint64_t index_bytes = 0;
  std::string index_digest = {};
  bool operator==(const ShardFacts&) const = default;
};

struct ShardManifest {
  std::vector<std::string> class_names = {};
  std::optional<ImageShape> shape = {};
  std::vector<ShardFacts> shards = {};
  std::vector<FieldInfo> fields = {};  // a set of classes first
  bool operator==(const ShardManifest&) const = default;
};

[[nodiscard]] std::string to_text(const ShardManifest& manifest);
// Throws Error (path, line). `path` is for messages.
[[nodiscard]] ShardManifest parse_manifest(std::string_view text, const std::string& path);

}  // namespace stoker
