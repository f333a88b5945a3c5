#include "stoker/augment/sharpness.h"

#include <cstring>
#include <utility>

#include "stoker/kernels/blend/blend.h"

namespace stoker {
namespace {

// (sum + 6) / 13 is the sum divided by 13 and rounded: a thirteenth never ends in a half. 5042 /
// 2^16 divides exactly up to 3321, the largest sum and 6. The arrays do not overlap.
void smooth_row(std::uint8_t* __restrict out, const std::uint8_t* above, const std::uint8_t* row,
                const std::uint8_t* below, std::size_t count, std::ptrdiff_t channels) {
  const std::ptrdiff_t c = channels;
  for (std::size_t i = 0; i < count; ++i) {
    const auto x = static_cast<std::ptrdiff_t>(i);
    const auto sum = static_cast<std::uint16_t>(above[x - c] + above[x] + above[x + c] +
                                                row[x - c] + 5 * row[x] + row[x + c] +
                                                below[x - c] + below[x] + below[x + c] + 6);
    out[x] = static_cast<std::uint8_t>(std::uint32_t{sum} * 5042U >> 16);
  }
}

class Sharpness final : public PixelOperation {
 public:
  Sharpness(Range factor, double probability) : factor_(factor), probability_(probability) {}
  void apply(const MutableImageView& image, Rng& rng, const RngStream&,
             AugmentScratch& scratch) const override {
    if (rng.bernoulli(probability_)) sharpness_in_place(image, factor_.draw(rng), scratch);
  }

 private:
  Range factor_;
  double probability_;
};

}  // namespace

Image sharpness(const ImageView& image, double factor) {
  AugmentScratch scratch;
  return changed(image,
                 [&](const MutableImageView& out) { sharpness_in_place(out, factor, scratch); });
}

void sharpness_in_place(const MutableImageView& image, double factor, AugmentScratch& scratch) {
  check_argument("sharpness", "factor", factor, 0, 100);
  const int height = image.shape.height, width = image.shape.width;
  const int channels = image.shape.channels;
  if (width < 3 || height < 3) return;
  const std::size_t bytes = image.shape.bytes_per_row();
  const std::size_t inner = bytes - 2 * static_cast<std::size_t>(channels);
  // A row as it was above the one that is written, that one as it was, and its smoothed version.
  scratch.rows.resize(3 * bytes);
  std::uint8_t *above = scratch.rows.data(), *row = above + bytes, *smooth = row + bytes;
  std::memcpy(row, image.row(0), bytes);
  for (int y = 1; y + 1 < height; ++y) {
    std::swap(above, row);
    std::memcpy(row, image.row(y), bytes);
    smooth_row(smooth, above + channels, row + channels, image.row(y + 1) + channels, inner,
               channels);
    blend(image.row(y) + channels, smooth, inner, static_cast<float>(factor));
  }
}

OperationSchema sharpness_schema() {
  return {.name = "sharpness",
          .summary = "blends the image with a smoothed version (below 1) or away from it (above 1)",
          .parameters = range_and_probability("factor", 0, 100),
          .example = "sharpness(0.1,1.9,1)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<Sharpness>(Range{a[0], a[1]}, a[2]);
          }};
}

}  // namespace stoker
