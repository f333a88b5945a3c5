// Divides a listing into training and validation images. The same listing, options and seed give
// the same division, everywhere.
//
// Exact duplicates (the same bytes) never end on two sides, so images of equal size are read and
// compared; see exact_duplicates.h for the cost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stoker/data/sources/image_folder.h"

namespace stoker {

struct SplitOptions {
  // Without a fraction: of each class the images 0, k, 2k, … in the listing's order go to
  // validation. At least 2.
  std::uint32_t every = 6;
  // In (0, 1): this fraction of the images, chosen by the seed, goes to validation.
  std::optional<double> fraction = {};
  bool stratified = false;  // the fraction of each class, instead of the fraction of all
  // A regular expression (of RE2: time and memory are bounded) that is searched for in the relative
  // path; what its first parentheses match names the image's group. A group stays on one side, and
  // `every` counts groups instead of images. An image without a match is a group of its own.
  std::string group = {};
  std::uint64_t seed = 0;
};

struct SplitParts {
  ImageListing train, validation;  // with the classes of the whole, in its order
  std::uint64_t moved = 0;         // by `every`: images that follow a duplicate
  std::uint64_t ungrouped = 0;     // images that the expression does not match
};

// A group of several classes counts as one of its first image's class. With a fraction, groups
// are taken in the seed's order while they bring the number of images nearer to the share.
// Throws Error for options outside their range, an expression that is none or matches nothing, a
// file that cannot be read, and where a side would be empty.
[[nodiscard]] SplitParts split_listing(const ImageListing& listing, const SplitOptions& options);

}  // namespace stoker
