// Images that a report shows of a run, as `pictures.json` of its folder: the validation images
// with the greatest losses, the most doubtful ones, and some training images before and after
// augmentation. They are small (PNG or WebP, in base64), so a report needs the data no more.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "stoker/augment/policy.h"
#include "stoker/data/sources/source.h"
#include "stoker/image/image.h"
#include "stoker/pipeline/feed.h"
#include "stoker/run/prediction_file.h"

namespace stoker {

struct ImageSources {
  std::shared_ptr<const Source> train, validation = {};
  Policy policy = {}, validation_policy = {};
  FeedOptions feed = {};  // as training makes its samples
};

// Reads at most some 80 images through a feed. Throws Error where one cannot be read.
void write_run_images(const std::filesystem::path& path, const ImageSources& sources,
                      const PredictionTable& predictions);

// The first training batch as bytes (of 16 bits as floats of 0 to 1), at most 64 samples of it; of
// those before, a sample's pixels are what training sees of it before they are normalised.
[[nodiscard]] FeedOptions first_batch_options(const FeedOptions& training, const Source& source);
// Its digest.
[[nodiscard]] std::string first_batch_digest(const ImageSources& sources);
// It as a PNG file.
void draw_first_batch(const std::filesystem::path& path, const ImageSources& sources,
                      const std::string& title);

}  // namespace stoker
