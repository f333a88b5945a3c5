// DataIdentity: what data a run is made of, so that two processes, or the start of a run and its
// continuation, can tell whether they mean the same data.
//
// It is text, a line for each thing that determines the samples, with tabs between the fields:
//   stoker-data  1  content          the version; "listing" where contents are not included
//   part  training
//   class  3  dog
//   field  target  angle             a number that every sample has, with its field
//   image  dog/3.png  1000  3  a1b2…  path, bytes, label, digest of the content or "-"; where
//                                    there are fields, the digest of the sample's numbers
//   shard  shard-000003.tar  9728  12  a1b2…      name, bytes, samples, digest of the manifest
//   array  train-images-idx3-ubyte  47040000  60000  a1b2…
//   sample  name                     of a source that is none of these
//   as  training                     in place of all those: a view of the same source
//   samples  60000
// Paths start at the folder above all parts: train/dog/3.png, val/dog/3.png.
// A view of a source (a subset, balanced classes) follows from settings and is not described; what
// it views is.
//
// Contents are digested while all images and arrays together have at most `content_bytes`: the
// default of 256 MB bounds the time.
// Above, an image that is replaced by one of the same size is not seen. Digests of shards come from
// their manifest at any size. Sizes of up to 100,000 images are asked for anew; beyond, those of
// the kept listing count (listing_cache.h), which misses files that are rewritten in place. A table
// keeps no sizes: of its images, 100,000 at equal distances are asked for theirs, and those of the
// others are 0. Its paths, labels and numbers all count; columns that are not used do not.
//
// Cost: some 60 bytes an image or shard, while it is made and compared. Never per sample of a
// shard.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "stoker/data/sources/source.h"

namespace stoker {

struct DataPart {
  std::string name;  // "training", for messages: "the training data"
  std::shared_ptr<const Source> source;
};

struct IdentityOptions {
  std::uint64_t content_bytes = std::uint64_t{256} << 20;
  std::uint64_t looked_at = 100'000;  // this many images are asked for their size, at least 1
  int threads = 4;
};

class DataIdentity {
 public:
  DataIdentity() = default;
  explicit DataIdentity(std::string text) : text_(std::move(text)) {}

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] std::string digest() const;

 private:
  std::string text_;
};

// Whether contents are included, by the options' bound.
[[nodiscard]] bool content_is_cheap(std::span<const DataPart> parts,
                                    const IdentityOptions& options = {});

// With contents where they are cheap.
[[nodiscard]] DataIdentity identity_of(std::span<const DataPart> parts,
                                       const IdentityOptions& options = {});

// An image that cannot be read has "!" for a digest: whether that ends the run is decided where it
// is used.
[[nodiscard]] DataIdentity identity_of(std::span<const DataPart> parts, bool with_content,
                                       const IdentityOptions& options);

}  // namespace stoker
