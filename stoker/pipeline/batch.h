/// \file
/// A batch as the reader sees it: pixels, labels, sample indices and the source's fields, in memory
/// that the workers wrote once. Holding a batch keeps its memory from being reused; dropping it
/// lets the workers go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/data/sources/fields.h"
#include "stoker/export.h"
#include "stoker/image/image.h"
#include "stoker/pipeline/plan.h"

namespace stoker {

/// What a batch holds of each pixel.
enum class PixelType : std::uint8_t {
  kU8,   ///< bytes as they are, of images of 8 bits: sample, row, column, channel
  kF32,  ///< normalised floats: sample, channel, row, column, unless channels come last
};
/// Of one channel of one pixel.
[[nodiscard]] constexpr std::size_t bytes_per_value(PixelType type) noexcept {
  return type == PixelType::kU8 ? 1 : sizeof(float);
}

/// What the numbers of a field are.
enum class FieldType : std::uint8_t { kU8, kF32, kI64, kU64 };

/// Where a field lies in the memory of a batch.
struct BatchField {
  std::string name;  ///< "image", "label", "index", then the source's fields
  FieldType type = FieldType::kF32;
  std::vector<std::int64_t> shape;   ///< of one sample; empty: a single number
  std::size_t offset = 0;            ///< in bytes from the start of the batch; aligned
  std::size_t bytes_per_sample = 0;  ///< samples lie behind each other, without gaps
};

/// What the samples of a batch look like.
struct BatchContents {
  ImageShape image;
  PixelType pixel_type = PixelType::kF32;
  bool channels_last = false;           ///< for kF32; with kU8 they always do
  std::uint32_t views = 1;              ///< of each sample
  std::vector<FieldInfo> numbers = {};  ///< the source's fields
};

/// How a batch lies in its memory, which is one block: image, label, index, then the source's
/// fields, each part aligned. The first field's shape is (channels, rows, columns) for floats and
/// (rows, columns, channels) for bytes and where channels come last; with several views, their
/// number stands in front.
class BatchLayout {
 public:
  /// Of batches of up to `capacity` samples. Throws Error for a shape that cannot be, or is too
  /// large for memory.
  STOKER_API BatchLayout(BatchContents shape, std::uint32_t capacity);

  [[nodiscard]] const ImageShape& image() const noexcept { return shape_.image; }
  [[nodiscard]] PixelType pixel_type() const noexcept { return shape_.pixel_type; }
  /// Of floats; bytes always have them last.
  [[nodiscard]] bool channels_last() const noexcept { return shape_.channels_last; }
  [[nodiscard]] std::uint32_t views() const noexcept { return shape_.views; }
  /// The source's fields.
  [[nodiscard]] std::span<const FieldInfo> numbers() const noexcept { return shape_.numbers; }
  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::span<const BatchField> fields() const noexcept { return fields_; }
  /// Of the whole batch, a multiple of the alignment.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Of all views of a sample.
  [[nodiscard]] std::size_t pixel_bytes() const noexcept { return fields_[0].bytes_per_sample; }
  /// Throws Error, with all names, where there is none.
  [[nodiscard]] STOKER_API const BatchField& field(std::string_view name) const;

 private:
  void add(std::string name, FieldType type, std::vector<std::int64_t> shape);

  BatchContents shape_;
  std::uint32_t capacity_;
  std::vector<BatchField> fields_;
  std::size_t bytes_ = 0;
};

class Ring;

/// Move-only: one owner gives it back, by destruction or release(), in any thread, also after the
/// feed has ended.
class Batch {
 public:
  Batch(std::shared_ptr<Ring> ring, std::uint64_t number, BatchPlan::Share share,
        std::shared_ptr<const BatchLayout> layout, std::byte* memory)
      : ring_(std::move(ring)),
        number_(number),
        share_(share),
        layout_(std::move(layout)),
        memory_(memory) {}
  Batch(Batch&&) noexcept = default;
  Batch& operator=(Batch&& other) noexcept {
    release();
    ring_ = std::move(other.ring_);
    number_ = other.number_;
    share_ = other.share_;
    layout_ = std::move(other.layout_);
    memory_ = other.memory_;
    return *this;
  }
  ~Batch() { release(); }

  [[nodiscard]] std::uint32_t size() const noexcept { return share_.count; }
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }  ///< through all epochs
  [[nodiscard]] std::uint32_t epoch() const noexcept { return share_.epoch; }
  [[nodiscard]] std::uint64_t first_position() const noexcept { return share_.first_position; }
  /// In the order of the epoch, over all ranks.
  [[nodiscard]] STOKER_API std::uint64_t position_of(std::uint32_t slot) const;
  /// The file of the sample and the place in it. Throws Error after release().
  [[nodiscard]] STOKER_API std::string name_of(std::uint32_t slot) const;
  [[nodiscard]] const ImageShape& image_shape() const noexcept { return layout_->image(); }
  [[nodiscard]] PixelType pixel_type() const noexcept { return layout_->pixel_type(); }
  [[nodiscard]] std::uint32_t views() const noexcept { return layout_->views(); }
  [[nodiscard]] const BatchLayout& layout() const noexcept { return *layout_; }

  /// Of all samples; the views of a sample lie behind each other.
  [[nodiscard]] std::span<const std::byte> pixels() const noexcept {
    return {memory_, size() * layout_->pixel_bytes()};
  }
  /// All views of one sample.
  [[nodiscard]] std::span<const std::byte> pixels_of(std::uint32_t slot) const noexcept {
    return {memory_ + slot * layout_->pixel_bytes(), layout_->pixel_bytes()};
  }
  /// One view of one sample.
  [[nodiscard]] std::span<const std::byte> pixels_of(std::uint32_t slot,
                                                     std::uint32_t view) const noexcept {
    const std::size_t bytes = layout_->pixel_bytes() / views();
    return pixels_of(slot).subspan(view * bytes, bytes);
  }
  /// All pixels as numbers. Throws Error where the batch has the other type.
  [[nodiscard]] STOKER_API std::span<const float> pixels_f32() const;
  [[nodiscard]] STOKER_API std::span<const std::uint8_t> pixels_u8() const;
  [[nodiscard]] std::span<const std::int64_t> labels() const noexcept {
    return {reinterpret_cast<const std::int64_t*>(memory_ + layout_->fields()[1].offset), size()};
  }
  /// In the source.
  [[nodiscard]] std::span<const std::uint64_t> indices() const noexcept {
    return {reinterpret_cast<const std::uint64_t*>(memory_ + layout_->fields()[2].offset), size()};
  }
  /// Those of a field of the source, sample after sample. Throws Error for an unknown
  /// field.
  [[nodiscard]] STOKER_API std::span<const float> numbers(std::string_view field) const;

  /// Gives the memory back early; the spans above are void then.
  STOKER_API void release() noexcept;

 private:
  std::shared_ptr<Ring> ring_;  ///< null once released
  std::uint64_t number_;
  BatchPlan::Share share_;
  std::shared_ptr<const BatchLayout> layout_;
  std::byte* memory_;  ///< where the first field begins
};

}  // namespace stoker
