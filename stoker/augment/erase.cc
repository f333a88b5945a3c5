#include "stoker/augment/erase.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/philox.h"
#include "stoker/core/portable_math.h"

namespace stoker {
namespace {

void check_box(const ImageShape& shape, const Box& box) {
  const bool inside = box.y >= 0 && box.x >= 0 && box.height >= 0 && box.width >= 0 &&
                      box.height <= shape.height - box.y && box.width <= shape.width - box.x;
  if (inside) return;
  throw Error({.what = "cannot erase a box",
               .expected = fmt::format("one within {}x{} pixels", shape.height, shape.width),
               .found = fmt::format("{}x{} pixels from row {}, column {} on", box.height, box.width,
                                    box.y, box.x)});
}

// Calls fill(first byte, bytes) for each row of the box. A value of 16 bits filled by a byte is the
// byte times 257.
template <class Fill>
void each_row(const MutableImageView& image, const Box& box, Fill fill) {
  const std::size_t pixel = image.shape.bytes_per_pixel();
  for (int y = box.y; y < box.y + box.height; ++y) {
    fill(image.row(y) + box.x * pixel, box.width * pixel);
  }
}

void fill_random(const MutableImageView& image, const Box& box, RngStream stream) {
  PhiloxBlock block{};
  std::size_t used = sizeof(block);
  each_row(image, box, [&](std::uint8_t* out, std::size_t bytes) {
    while (bytes > 0) {
      if (used == sizeof(block)) {
        block = philox4x32(stream.counter, stream.key);
        ++stream.counter[0];
        used = 0;
      }
      const std::size_t now = std::min(bytes, sizeof(block) - used);
      std::memcpy(out, reinterpret_cast<const std::uint8_t*>(block.data()) + used, now);
      used += now;
      out += now;
      bytes -= now;
    }
  });
}

void fill_value(const MutableImageView& image, const Box& box, std::uint8_t value) {
  each_row(image, box, [value](std::uint8_t* out, std::size_t n) { std::memset(out, value, n); });
}

class Erase final : public PixelOperation {
 public:
  Erase(double probability, const EraseRange& range, double value)
      : probability_(probability), range_(range), value_(value) {}
  void apply(const MutableImageView& image, Rng& rng, const RngStream& per_value,
             AugmentScratch&) const override {
    if (!rng.bernoulli(probability_)) return;
    const Box box = draw_erase_box(rng, image.shape, range_);
    if (value_ < 0) {
      fill_random(image, box, per_value);
    } else {
      fill_value(image, box, static_cast<std::uint8_t>(value_));
    }
  }
  [[nodiscard]] bool takes_wide() const override { return true; }

 private:
  double probability_;
  EraseRange range_;
  double value_;  // -1: random bytes
};

ParameterSchema with_default(const char* name, const char* meaning, double minimum, double maximum,
                             double value) {
  return {.name = name,
          .meaning = meaning,
          .minimum = minimum,
          .maximum = maximum,
          .default_value = value};
}

}  // namespace

Image erase(const ImageView& image, const Box& box, std::uint8_t value) {
  check_box(image.shape, box);
  return changed(image, [&](const MutableImageView& out) { fill_value(out, box, value); });
}

Box draw_erase_box(Rng& rng, const ImageShape& shape, const EraseRange& range) {
  const double pixels = static_cast<double>(shape.height) * shape.width;
  const Range log_ratio = {portable_log(range.ratio.low), portable_log(range.ratio.high)};
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double area = pixels * range.area.draw(rng);
    const double ratio = portable_exp(log_ratio.draw(rng));
    const double height = std::floor(std::sqrt(area * ratio) + 0.5);
    const double width = std::floor(std::sqrt(area / ratio) + 0.5);
    if (!(height < shape.height && width < shape.width)) continue;
    Box box{.height = static_cast<int>(height), .width = static_cast<int>(width)};
    box.y = static_cast<int>(rng.uniform_int(shape.height - box.height + 1));
    box.x = static_cast<int>(rng.uniform_int(shape.width - box.width + 1));
    return box;
  }
  return {};
}

OperationSchema erase_schema() {
  const EraseRange usual;
  return {
      .name = "erase",
      .summary = "covers a random box (bytes, before they are normalised)",
      .parameters =
          {probability_parameter(0.5),
           with_default("area_low", "smallest fraction of the image's area", 0, 1, usual.area.low),
           with_default("area_high", "largest fraction of the image's area", 0, 1, usual.area.high),
           with_default("ratio_low", "smallest height over width", 0.01, 100, usual.ratio.low),
           with_default("ratio_high", "largest height over width", 0.01, 100, usual.ratio.high),
           {.name = "value",
            .meaning = "the byte that fills it; -1 means random bytes",
            .minimum = -1,
            .maximum = 255,
            .default_value = 0,
            .whole = true}},
      .example = "erase(0.25,0.02,0.33,0.3,3.3,0)",
      .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
        return std::make_unique<Erase>(
            a[0], EraseRange{.area = {a[1], a[2]}, .ratio = {a[3], a[4]}}, a[5]);
      }};
}

}  // namespace stoker
