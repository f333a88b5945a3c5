#include "stoker/pipeline/batch.h"

#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/pipeline/batch_memory.h"
#include "stoker/pipeline/ring.h"

namespace stoker {
namespace {

constexpr std::uint32_t kMostViews = 64;

constexpr std::size_t align_up(std::size_t bytes) noexcept {
  return (bytes + kBatchAlignment - 1) / kBatchAlignment * kBatchAlignment;
}

std::size_t bytes_of(FieldType type) noexcept {
  switch (type) {
    case FieldType::kU8:
      return 1;
    case FieldType::kF32:
      return sizeof(float);
    case FieldType::kI64:
    case FieldType::kU64:
      break;
  }
  return sizeof(std::int64_t);
}

void check_size(const BatchContents& shape, std::uint32_t capacity) {
  check_shape(shape.image);
  if (shape.views < 1 || shape.views > kMostViews) {
    throw Error({.what = "cannot make that many views of a sample",
                 .expected = fmt::format("1 to {}", kMostViews),
                 .found = fmt::format("{}", shape.views)});
  }
  // Shapes and capacity are bounded, so 128 bits hold every product.
  using Wide = unsigned __int128;
  const Wide pixels = Wide{shape.image.values()} * bytes_per_value(shape.pixel_type) * shape.views;
  const Wide numbers = Wide{number_count(shape.numbers)} * sizeof(float);
  if ((pixels + numbers + 64) * (capacity + Wide{1}) >
      std::numeric_limits<std::size_t>::max() / 4) {
    throw Error({.what = "the batches in flight are too large for this machine's addresses",
                 .hint = "A smaller batch or fewer batches in flight need less"});
  }
}

std::vector<std::int64_t> pixel_shape(const BatchContents& shape) {
  const ImageShape& image = shape.image;
  std::vector<std::int64_t> sides = {image.height, image.width, image.channels};
  if (shape.pixel_type == PixelType::kF32 && !shape.channels_last) {
    sides = {image.channels, image.height, image.width};
  }
  if (shape.views > 1) sides.insert(sides.begin(), shape.views);
  return sides;
}

void check_type(PixelType is, PixelType wanted) {
  if (is == wanted) return;
  const auto name = [](PixelType type) { return type == PixelType::kU8 ? "bytes" : "floats"; };
  throw Error({.what = fmt::format("cannot give the pixels of a batch as {}", name(wanted)),
               .expected = "the pixel_type of its FeedOptions",
               .found = fmt::format("a batch of {}", name(is))});
}

}  // namespace

BatchLayout::BatchLayout(BatchContents shape, std::uint32_t capacity)
    : shape_(std::move(shape)), capacity_(capacity) {
  check_size(shape_, capacity);
  add("image", shape_.pixel_type == PixelType::kU8 ? FieldType::kU8 : FieldType::kF32,
      pixel_shape(shape_));
  add("label", FieldType::kI64, {});
  add("index", FieldType::kU64, {});
  for (const FieldInfo& field : shape_.numbers) {
    add(field.name, FieldType::kF32, {static_cast<std::int64_t>(field.values.size())});
  }
}

void BatchLayout::add(std::string name, FieldType type, std::vector<std::int64_t> shape) {
  std::size_t bytes = bytes_of(type);
  for (const std::int64_t side : shape) bytes *= static_cast<std::size_t>(side);
  fields_.push_back({.name = std::move(name),
                     .type = type,
                     .shape = std::move(shape),
                     .offset = bytes_,
                     .bytes_per_sample = bytes});
  bytes_ += align_up(capacity_ * bytes);
}

const BatchField& BatchLayout::field(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const BatchField& field : fields_) {
    if (field.name == name) return field;
    names.push_back(field.name);
  }
  throw Error({.what = fmt::format("the batch has no field \"{}\"", name),
               .expected = fmt::format("{}", fmt::join(names, ", "))});
}

std::uint64_t Batch::position_of(std::uint32_t slot) const {
  return share_.first_position + std::uint64_t{slot} * share_.step;
}

std::string Batch::name_of(std::uint32_t slot) const {
  if (ring_ == nullptr) throw Error({.what = "a released batch has no names"});
  return ring_->name_of(indices()[slot]);
}

std::span<const float> Batch::pixels_f32() const {
  check_type(layout_->pixel_type(), PixelType::kF32);
  // Floats were written there; the memory is aligned (batch_memory.h).
  return {reinterpret_cast<const float*>(pixels().data()), pixels().size() / sizeof(float)};
}

std::span<const std::uint8_t> Batch::pixels_u8() const {
  check_type(layout_->pixel_type(), PixelType::kU8);
  return {reinterpret_cast<const std::uint8_t*>(pixels().data()), pixels().size()};
}

std::span<const float> Batch::numbers(std::string_view field) const {
  const BatchField& found = layout_->field(field);
  if (&found - layout_->fields().data() < 3) {
    throw Error({.what = fmt::format("the field \"{}\" has a function of its own", field),
                 .expected = "a field of the source"});
  }
  return {reinterpret_cast<const float*>(memory_ + found.offset),
          size() * found.bytes_per_sample / sizeof(float)};
}

void Batch::release() noexcept {
  if (ring_ == nullptr) return;
  ring_->release(number_, memory_);
  ring_.reset();
}

}  // namespace stoker
