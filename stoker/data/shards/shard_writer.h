// Writes a source as tar shards that WebDataset reads, each with an index, and a manifest for all.
// Samples are shuffled once by the seed; what goes into which shard follows from the sizes of the
// images before any is read, so shards are written in parallel, and the same data, seed and
// options make the same bytes.
//
// A shard appears whole, is read back and compared, and only then gets its index; the manifest
// comes last. So a run that was ended can be started again: shards whose index is of the same plan,
// whose bytes are still what the index says and whose sources have the same content are kept.
// Temporary files of a run that was killed are removed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "stoker/data/sources/source.h"
#include "stoker/export.h"
#include "stoker/store/store.h"

namespace stoker {

struct ShardWriteOptions {
  std::uint64_t shard_bytes = std::uint64_t{256}
                              << 20;  // about: by the sizes of the sources' files
  std::uint64_t seed = 0;
  int threads = 0;   // 0: what the job may use
  int max_side = 0;  // larger images are shrunk to it; 0: no limit
  int quality = 0;   // 1 to 100: images are written as JPEG anew; 0: only those that are shrunk
  bool jpeg_index = false;  // JPEGs with the same pixels that can be decoded in parts
  DecodeLimits limits = {};
  // By any thread, with those just done. What it throws ends the writing; shards that are finished
  // stay and are kept when it is done again.
  std::function<void(std::uint64_t samples)> progress = {};
};

struct ShardWriteReport {
  std::uint64_t shards = 0, samples = 0, bytes = 0;
  std::uint64_t kept = 0;  // shards that were there already
};

// Throws Error where a sample cannot be read, the store cannot be written, what is read back
// differs, or the store holds shards of another plan.
STOKER_API ShardWriteReport write_shards(const Source& source, const Store& out,
                                         const ShardWriteOptions& options);

}  // namespace stoker
