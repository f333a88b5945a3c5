#include "stoker/pipeline/detail/sample_maker.h"

#include <utility>

#include "stoker/core/invariant.h"

namespace stoker::detail {

std::int64_t SampleMaker::make(const SampleTask& task, StageTimes* times) {
  if (times != nullptr) *times = {};
  const SampleKey key{.seed = recipe_.seed, .epoch = task.epoch, .sample = task.index};
  for (std::uint32_t view = 0; view < recipe_.views; ++view) keys_[view] = view_key(key, view);
  const std::int64_t label = make_view(task, 0, times);
  for (std::uint32_t view = 1; view < recipe_.views; ++view) make_view(task, view, times);
  return label;
}

std::int64_t SampleMaker::make_view(const SampleTask& task, std::uint32_t view, StageTimes* times) {
  using Clock = std::chrono::steady_clock;
  const auto now = [times] { return times != nullptr ? Clock::now() : Clock::time_point{}; };
  const std::size_t bytes = task.pixels.size() / recipe_.views;
  const std::span<std::byte> pixels = task.pixels.subspan(view * bytes, bytes);
  const auto waited_before = buffer_.store_wait;
  const auto start = now();
  const Sample sample = read(task, view);
  const auto was_read = now();
  const ImageView image = augment(pixels, sample.image, keys_[view]);
  const auto was_augmented = now();
  if (recipe_.pixel_type == PixelType::kF32) {
    const auto convert = recipe_.channels_last ? normalise_channels_last : normalise;
    convert(reinterpret_cast<float*>(pixels.data()), image, recipe_.normalisation);
  }
  if (times != nullptr) {
    times->read += was_read - start - (buffer_.store_wait - waited_before);
    times->augment += was_augmented - was_read;
    times->write += now() - was_augmented;
  }
  return sample.label;
}

std::chrono::nanoseconds SampleMaker::take_store_wait() noexcept {
  return std::exchange(buffer_.store_wait, std::chrono::nanoseconds{0});
}

Sample SampleMaker::read(const SampleTask& task, std::uint32_t view) {
  const FrameRequest request{.framing = recipe_.policy.framing(),
                             .key = keys_[view],
                             .options = recipe_.framing,
                             .later = std::span(keys_).subspan(view + 1),
                             .again = view > 0};
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
