// SampleMaker: one sample, made straight into its place of a batch: read or decoded, framed,
// augmented, normalised. Threads and worker processes use this same code, so their bytes are the
// same. One a thread or process: it keeps its memory from sample to sample.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stoker/augment/policy.h"
#include "stoker/data/sources/source.h"
#include "stoker/kernels/normalise/normalise.h"
#include "stoker/pipeline/batch.h"

namespace stoker::detail {

// What all samples of a feed have in common. Refers to what the feed owns.
struct SampleRecipe {
  const Source& source;
  const Policy& policy;
  ImageShape shape;
  PixelType pixel_type;
  Normalisation normalisation;
  bool channels_last;
  FramingOptions framing;
  std::uint64_t seed;
  std::uint32_t views;
};

struct SampleTask {
  std::uint64_t index = 0;  // in the source
  std::uint32_t epoch = 0;
  std::span<std::byte> pixels;                             // where its views go
  std::optional<std::span<const std::byte>> encoded = {};  // its file, where somebody else read it
};

struct StageTimes {
  using Duration = std::chrono::steady_clock::duration;
  Duration read{}, augment{}, write{};
};

class SampleMaker {
 public:
  explicit SampleMaker(const SampleRecipe& recipe) : recipe_(recipe), keys_(recipe.views) {}

  // Returns the label. Throws where the sample cannot be made. Stages are timed where asked for;
  // the read stage without what take_store_wait() gives.
  std::int64_t make(const SampleTask& task, StageTimes* times = nullptr);
  // How long this maker waited for a store since it was asked last.
  [[nodiscard]] std::chrono::nanoseconds take_store_wait() noexcept;

 private:
  // Gives the label.
  std::int64_t make_view(const SampleTask& task, std::uint32_t view, StageTimes* times);
  [[nodiscard]] Sample read(const SampleTask& task, std::uint32_t view);
  [[nodiscard]] ImageView augment(std::span<std::byte> pixels, const ImageView& image,
                                  const SampleKey& key);

  SampleRecipe recipe_;
  std::vector<SampleKey> keys_;  // of the views of the sample under way
  SampleBuffer buffer_;
  AugmentScratch scratch_;
  Image augmented_;
};

}  // namespace stoker::detail
