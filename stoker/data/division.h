/// \file
/// Divides training data that has no validation part into the two. The same data, division and seed
/// give the same parts, everywhere: a model file names its division, and `stoker eval --split val`
/// makes it again.
///
/// Samples without a class, such as those with several classes or numbers to predict, are divided
/// as if all were of one. Samples with the same content never end on two sides. Folders and lists
/// are compared as in exact_duplicates.h; of other sources every sample is read once (60,000 images
/// of MNIST take 0.1 s). Shards are divided as whole shards by their names, so the cost does not
/// depend on their samples; what is in them is not compared.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "stoker/data/sources/source.h"
#include "stoker/export.h"

namespace stoker {

/// By which rule samples go to validation.
struct Division {
  enum class Kind : std::uint8_t { kEvery, kFraction, kFolds };
  Kind kind = Kind::kFraction;
  std::uint32_t every = 0;  ///< of each class the samples 0, k, 2k, … validate; at least 2
  double fraction = 0;      ///< of each class, chosen by the seed; in (0, 1)
  std::uint32_t folds = 0, fold = 0;  ///< of `folds` parts, alike in classes, this one validates
  std::uint64_t seed = 0;
  bool operator==(const Division&) const = default;
};

/// "val-every 6", "val-fraction 0.1, split-seed 0", "folds 5, fold 0, split-seed 0"
[[nodiscard]] STOKER_API std::string to_text(const Division& division);
/// The opposite; `path` is for messages. Throws Error for another text.
[[nodiscard]] STOKER_API Division parse_division(const std::string& text, const std::string& path);

/// The two parts.
struct DividedSource {
  std::shared_ptr<const Source> train, validation;
};
/// Both parts have the classes of the whole, in its order. Throws Error for numbers outside their
/// range, a sample that cannot be read, shards by `every`, and where a part would be empty.
[[nodiscard]] STOKER_API DividedSource divide(const std::shared_ptr<const Source>& source,
                                              const Division& division);

}  // namespace stoker
