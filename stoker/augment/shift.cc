#include "stoker/augment/shift.h"

#include <algorithm>
#include <cstring>

namespace stoker {
namespace {

class Shift final : public GeometricOperation {
 public:
  explicit Shift(Range pixels) : pixels_(pixels) {}
  [[nodiscard]] Affine draw(Rng& rng, const ImageShape&) const override {
    const double dx = pixels_.draw(rng), dy = pixels_.draw(rng);
    return translation(dx, dy);
  }

 private:
  Range pixels_;
};

}  // namespace

Image shift(const ImageView& image, int dx, int dy) {
  Image out(image.shape);
  const int height = image.shape.height, width = image.shape.width;
  const auto pixel = static_cast<std::int64_t>(image.shape.bytes_per_pixel());
  // The columns of the output that the input covers; 64 bits, as dx may be anything.
  const std::int64_t first = std::clamp<std::int64_t>(-std::int64_t{dx}, 0, width);
  const std::int64_t last = std::clamp<std::int64_t>(width - std::int64_t{dx}, first, width);
  for (int y = 0; y < height; ++y) {
    const std::int64_t from = y + std::int64_t{dy};
    if (from < 0 || from >= height || first == last) continue;
    std::memcpy(out.view().row(y) + first * pixel,
                image.row(static_cast<int>(from)) + (first + dx) * pixel,
                static_cast<std::size_t>((last - first) * pixel));
  }
  return out;
}

OperationSchema shift_schema() {
  return {.name = "shift",
          .summary = "moves the image to the left and up, each by its own distance; black fills",
          .parameters = range_parameters("distance in pixels", -4096, 4096),
          .example = "shift(-2,2)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<Shift>(Range{a[0], a[1]});
          },
          .symmetric_range = true};
}

}  // namespace stoker
