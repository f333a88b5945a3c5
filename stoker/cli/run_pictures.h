// Pictures that a report shows of a run, as `pictures.json` of its folder: the validation pictures
// with the greatest losses, the most doubtful ones, and some training pictures before and after
// augmentation. They are small (PNG or WebP, in base64), so a report needs the data no more.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "stoker/augment/policy.h"
#include "stoker/cli/prediction_file.h"
#include "stoker/data/source.h"
#include "stoker/image/image.h"

namespace stoker {

struct PictureSources {
  std::shared_ptr<const Source> train, validation = {};
  Policy policy = {}, validation_policy = {};
  std::uint64_t seed = 0;
  bool isolate = false;  // decode in locked-down processes
};

// Reads at most some 80 pictures through a feed. Throws Error where one cannot be read.
void write_run_pictures(const std::filesystem::path& path, const PictureSources& sources,
                        const PredictionTable& predictions);

// The digest of the first training batch, at most 64 samples of it, as bytes.
[[nodiscard]] std::string first_batch_digest(const PictureSources& sources,
                                             std::uint32_t batch_size);

}  // namespace stoker
