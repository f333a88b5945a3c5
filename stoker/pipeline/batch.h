/// \file
/// A batch as the reader sees it: pixels, labels and sample indices in memory that the workers
/// wrote once. Holding a batch keeps its memory from being reused; dropping it lets the workers go
/// on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "stoker/export.h"
#include "stoker/image/image.h"
#include "stoker/pipeline/plan.h"

namespace stoker {

/// What a batch holds of each pixel.
enum class PixelType : std::uint8_t {
  kU8,   ///< bytes as they are: sample, row, column, channel
  kF32,  ///< normalised floats: sample, channel, row, column
};
/// Of one channel of one pixel.
[[nodiscard]] constexpr std::size_t bytes_per_value(PixelType type) noexcept {
  return type == PixelType::kU8 ? 1 : sizeof(float);
}

/// How a batch lies in its memory: pixels, then labels, then indices, each part aligned.
struct BatchLayout {
  ImageShape shape;
  PixelType pixel_type = PixelType::kF32;
  std::uint32_t capacity = 0;

  [[nodiscard]] std::size_t bytes_per_sample() const noexcept {
    return shape.bytes() * bytes_per_value(pixel_type);
  }
};

/// The three parts of a batch in memory.
struct BatchSpans {
  std::span<std::byte> pixels;  ///< capacity samples; those past size() mean nothing
  std::span<std::int64_t> labels;
  std::span<std::uint64_t> indices;  ///< in the source
};

class Ring;

/// Move-only: one owner gives it back, by destruction or release().
class Batch {
 public:
  Batch(std::shared_ptr<Ring> ring, std::uint64_t number, BatchPlan::Share share,
        BatchLayout layout, BatchSpans view)
      : ring_(std::move(ring)), number_(number), share_(share), layout_(layout), view_(view) {}
  Batch(Batch&&) noexcept = default;
  Batch& operator=(Batch&& other) noexcept {
    release();
    ring_ = std::move(other.ring_);
    number_ = other.number_;
    share_ = other.share_;
    layout_ = other.layout_;
    view_ = other.view_;
    return *this;
  }
  ~Batch() { release(); }

  [[nodiscard]] std::uint32_t size() const noexcept { return share_.count; }
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }  ///< through all epochs
  [[nodiscard]] std::uint32_t epoch() const noexcept { return share_.epoch; }
  [[nodiscard]] std::uint64_t first_position() const noexcept { return share_.first_position; }
  [[nodiscard]] const ImageShape& image_shape() const noexcept { return layout_.shape; }
  [[nodiscard]] PixelType pixel_type() const noexcept { return layout_.pixel_type; }

  [[nodiscard]] std::span<const std::byte> pixels() const noexcept {
    return view_.pixels.first(size() * layout_.bytes_per_sample());
  }
  [[nodiscard]] std::span<const std::byte> pixels_of(std::uint32_t slot) const noexcept {
    return view_.pixels.subspan(slot * layout_.bytes_per_sample(), layout_.bytes_per_sample());
  }
  /// All pixels as numbers. Throws Error where the batch has the other type.
  [[nodiscard]] STOKER_API std::span<const float> pixels_f32() const;
  [[nodiscard]] STOKER_API std::span<const std::uint8_t> pixels_u8() const;
  [[nodiscard]] std::span<const std::int64_t> labels() const noexcept {
    return view_.labels.first(size());
  }
  [[nodiscard]] std::span<const std::uint64_t> indices() const noexcept {
    return view_.indices.first(size());
  }

  /// Gives the memory back early; the spans above are void then.
  STOKER_API void release() noexcept;

 private:
  std::shared_ptr<Ring> ring_;  ///< null once released
  std::uint64_t number_;
  BatchPlan::Share share_;
  BatchLayout layout_;
  BatchSpans view_;
};

}  // namespace stoker
