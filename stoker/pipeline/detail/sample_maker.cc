#include "stoker/pipeline/detail/sample_maker.h"

#include <utility>

#include "stoker/core/invariant.h"

namespace stoker::detail {

std::int64_t SampleMaker::make(const SampleTask& task, StageTimes* times) {
  using Clock = std::chrono::steady_clock;
  const auto now = [times] { return times != nullptr ? Clock::now() : Clock::time_point{}; };
  const SampleKey key{.seed = recipe_.seed, .epoch = task.epoch, .sample = task.index};
  const auto waited_before = buffer_.store_wait;
  const auto start = now();
  const Sample sample = read(task, key);
  const auto was_read = now();
  const ImageView image = augment(task.pixels, sample.image, key);
  const auto was_augmented = now();
  if (recipe_.pixel_type == PixelType::kF32) {
    normalise(reinterpret_cast<float*>(task.pixels.data()), image, recipe_.normalisation);
  }
  if (times != nullptr) {
    *times = {.read = was_read - start - (buffer_.store_wait - waited_before),
              .augment = was_augmented - was_read,
              .write = now() - was_augmented};
  }
  return sample.label;
}

std::chrono::nanoseconds SampleMaker::take_store_wait() noexcept {
  return std::exchange(buffer_.store_wait, std::chrono::nanoseconds{0});
}

Sample SampleMaker::read(const SampleTask& task, const SampleKey& key) {
  const FrameRequest request{
      .framing = recipe_.policy.framing(), .key = key, .options = recipe_.framing};
  if (task.encoded)
    return recipe_.source.decode(task.index, *task.encoded, request, buffer_).value();
  return recipe_.source.read_framed(task.index, request, buffer_).value();
}

// Bytes go straight into the batch; floats are made from bytes that lie in the scratch image.
ImageView SampleMaker::augment(std::span<std::byte> pixels, const ImageView& image,
                               const SampleKey& key) {
  STOKER_INVARIANT(image.shape == recipe_.shape, "a sample of another shape");
  if (recipe_.pixel_type == PixelType::kU8) {
    const MutableImageView out{reinterpret_cast<std::uint8_t*>(pixels.data()), image.shape,
                               image.shape.bytes_per_row()};
    recipe_.policy.apply(out, image, key, scratch_);
    return out;
  }
  if (recipe_.policy.empty()) return image;
  augmented_.reshape(image.shape);
  recipe_.policy.apply(augmented_.view(), image, key, scratch_);
  return std::as_const(augmented_).view();
}

}  // namespace stoker::detail
