// What lies where in one shard: a text beside it, one line a sample, so that a sample is found
// without reading the archive.
//
//   #stoker-index  1  shard-000000.tar  <samples>  <plan>
//   offset  length  label  checksum  name
//
// Where samples have fields, the version is 2, and after the name come the places of the sample's
// classes and its other numbers: "0,5" and "12.5,0.25".
//
// with tabs between the fields. The label is a place in the manifest's classes, -1 where there are
// none. The checksum (XXH3, 64 bits) is that of the image's bytes, and is looked at whenever the
// sample is read. Indexes are not trusted: a parsed one names only bytes inside its shard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/detail/json_labels.h"
#include "stoker/data/shards/archive_bytes.h"
#include "stoker/data/sources/field_rows.h"

namespace stoker {

struct IndexedSample {
  std::uint64_t offset = 0;
  std::uint32_t length = 0;
  std::int32_t label = -1;
  std::uint64_t checksum = 0;
  std::string name = {};  // of the member
  bool operator==(const IndexedSample&) const = default;
};

struct ShardIndex {
  std::string shard;
  std::string plan = "-";  // a digest of what the shards were made of and how; see shard_writer.h
  std::vector<IndexedSample> samples = {};
  FieldRows fields = {};  // a row for each sample, or none
  bool operator==(const ShardIndex&) const = default;
};

// What the shard is known to be, from the manifest.
struct ShardBounds {
  std::uint64_t bytes = 0;
  std::int32_t classes = 0;  // 0: samples without classes
  std::span<const FieldInfo> fields = {};
};

[[nodiscard]] std::string to_text(const ShardIndex& index);
// Throws Error (path, line) for anything that is not what to_text writes, with offsets that grow,
// samples that do not overlap and end inside the shard, labels within the classes, and finite
// numbers for all fields. `path` is for messages.
[[nodiscard]] ShardIndex parse_shard_index(std::string_view text, const ShardBounds& bounds,
                                           const std::string& path);

// "shard-000000.tsv" for "shard-000000.tar"
[[nodiscard]] std::string index_name(std::string_view shard);

// A sample of a WebDataset shard, with its class as it is written there; empty: none.
struct ScannedSample {
  IndexedSample sample;  // without a label
  std::string class_text;
  detail::JsonLabels labels = {};  // of the keys that were asked for
};

// The samples of a shard by WebDataset's rules: neighbours whose names agree up to the first dot of
// the last part are one sample, and what follows says what each is. An image is what
// has_image_extension() accepts; the class is .cls (a number or a name) or, in .json, the field
// label, cls or class. Names that begin with a dot are passed over. Columns of `keys` are keys of
// .json, which must then be there: a label is the class (or .cls, without a .json), and with
// several labels or numbers there is no class. Throws Error where the archive cannot be read, a
// sample has no image, or two, or a key does not fit. `path` is for messages.
[[nodiscard]] std::vector<ScannedSample> scan_shard(ArchiveBytes bytes, const std::string& path,
                                                    const TableColumns& keys = {});

}  // namespace stoker
