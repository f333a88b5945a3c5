#include "stoker/augment/resize_operations.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "stoker/augment/framing.h"
#include "stoker/core/error.h"
#include "stoker/core/portable_math.h"

namespace stoker {
namespace {

constexpr double kMaxSize = 4096;

constexpr std::int64_t kMaxResizedPixels = 1 << 26;

// An image a thousand times as wide as high would become one that no memory holds.
void check_size(const Frame& frame) {
  if (std::int64_t{frame.width} * frame.height <= kMaxResizedPixels) return;
  throw Error({.what = "the image is too long for its width to be resized by its shorter side",
               .expected = fmt::format("at most {} pixels after resizing", kMaxResizedPixels),
               .found = fmt::format("{}x{}", frame.width, frame.height)});
}

// Halves go to the even neighbour, as Python's round() has it.
int python_round(double value) { return static_cast<int>(std::nearbyint(value)); }

// Ten times: area = image's area * uniform(scale), ratio = exp(uniform(log low, log high)),
// width = round(sqrt(area * ratio)), height = round(sqrt(area / ratio)), taken where it fits, at a
// uniform place. Else the largest part in the middle whose ratio is in the range.
class RandomResizedCrop final : public FramingOperation {
 public:
  RandomResizedCrop(int size, Range scale, Range ratio)
      : size_(size),
        scale_(scale),
        ratio_(ratio),
        log_ratio_{portable_log(ratio.low), portable_log(ratio.high)} {}

  [[nodiscard]] Frame draw(Rng& rng, int width, int height) const override {
    const double area = static_cast<double>(width) * height;
    for (int attempt = 0; attempt < 10; ++attempt) {
      const double target = area * scale_.draw(rng);
      const double ratio = portable_exp(log_ratio_.draw(rng));
      const int w = python_round(std::sqrt(target * ratio));
      const int h = python_round(std::sqrt(target / ratio));
      if (w < 1 || h < 1 || w > width || h > height) continue;
      const auto top =
          static_cast<int>(rng.uniform_int(static_cast<std::uint32_t>(height - h + 1)));
      const auto left =
          static_cast<int>(rng.uniform_int(static_cast<std::uint32_t>(width - w + 1)));
      return frame({left, top, w, h});
    }
    return frame(middle(width, height));
  }
  [[nodiscard]] int output_width() const override { return size_; }
  [[nodiscard]] int output_height() const override { return size_; }

 private:
  [[nodiscard]] Region middle(int width, int height) const {
    const double ratio = static_cast<double>(width) / height;
    int w = width, h = height;
    if (ratio < ratio_.low) h = std::max(1, std::min(height, python_round(w / ratio_.low)));
    if (ratio > ratio_.high) w = std::max(1, std::min(width, python_round(h * ratio_.high)));
    return {(width - w) / 2, (height - h) / 2, w, h};
  }
  [[nodiscard]] Frame frame(const Region& region) const {
    return {.region = region, .width = size_, .height = size_, .cut = {0, 0, size_, size_}};
  }

  int size_;
  Range scale_, ratio_, log_ratio_;
};

class Resize final : public FramingOperation {
 public:
  Resize(int height, int width, ResizeFilter filter)
      : height_(height), width_(width), filter_(filter) {}
  [[nodiscard]] Frame draw(Rng&, int width, int height) const override {
    return {.region = {0, 0, width, height},
            .width = width_,
            .height = height_,
            .cut = {0, 0, width_, height_},
            .filter = filter_};
  }
  [[nodiscard]] int output_width() const override { return width_; }
  [[nodiscard]] int output_height() const override { return height_; }

 private:
  int height_, width_;
  ResizeFilter filter_;
};

// The shorter side becomes `shorter`, the longer one int(shorter * longer / its old length); the
// square of `size` begins at round((side - size) / 2), as CenterCrop has it.
class ResizeCrop final : public FramingOperation {
 public:
  ResizeCrop(int shorter, int size, ResizeFilter filter)
      : shorter_(shorter), size_(size), filter_(filter) {}
  [[nodiscard]] Frame draw(Rng&, int width, int height) const override {
    Frame frame{.region = {0, 0, width, height},
                .width = shorter_,
                .height = shorter_,
                .cut = {},
                .filter = filter_};
    const auto longer = [this](int side, int other) {
      return static_cast<int>(std::int64_t{shorter_} * side / other);
    };
    if (width < height) frame.height = longer(height, width);
    if (height < width) frame.width = longer(width, height);
    check_size(frame);
    frame.cut = {python_round((frame.width - size_) / 2.0),
                 python_round((frame.height - size_) / 2.0), size_, size_};
    return frame;
  }
  [[nodiscard]] int output_width() const override { return size_; }
  [[nodiscard]] int output_height() const override { return size_; }

 private:
  int shorter_, size_;
  ResizeFilter filter_;
};

// By Pillow's numbers.
constexpr std::array<ResizeFilter, 5> kFilters = {ResizeFilter::kNearest, ResizeFilter::kLanczos,
                                                  ResizeFilter::kBilinear, ResizeFilter::kBicubic,
                                                  ResizeFilter::kBox};
constexpr double kBilinearNumber = 2;

ResizeFilter filter_of(double number) { return kFilters[static_cast<std::size_t>(number)]; }

ParameterSchema filter_parameter() {
  return {.name = "filter",
          .meaning =
              "how pixels are weighted, as Pillow numbers it: 0 nearest, 1 Lanczos, 2 "
              "bilinear, 3 bicubic, 4 box",
          .minimum = 0,
          .maximum = kFilters.size() - 1,
          .default_value = kBilinearNumber,
          .whole = true,
          .omit_default = true};
}

ParameterSchema size_parameter(const char* name, const char* meaning) {
  return {.name = name, .meaning = meaning, .minimum = 1, .maximum = kMaxSize, .whole = true};
}

}  // namespace

OperationSchema random_resized_crop_schema() {
  return {.name = "random_resized_crop",
          .summary = "takes a part of random area and shape, resized to a square; comes first",
          .parameters = {size_parameter("size", "side of the result in pixels"),
                         {"area_low", "least fraction of the image's area", 0.0001, 1, 0.08},
                         {"area_high", "largest share", 0.0001, 1, 1.0},
                         {"ratio_low", "least width for a height of 1", 0.01, 100, 3.0 / 4},
                         {"ratio_high", "largest width", 0.01, 100, 4.0 / 3}},
          .example = "random_resized_crop(224)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<RandomResizedCrop>(static_cast<int>(a[0]), Range{a[1], a[2]},
                                                       Range{a[3], a[4]});
          }};
}

OperationSchema resize_schema() {
  return {.name = "resize",
          .summary = "resizes all of the image, whatever its shape was; comes first",
          .parameters = {size_parameter("height", "rows of the result"),
                         size_parameter("width", "columns of the result"), filter_parameter()},
          .example = "resize(224,224)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<Resize>(static_cast<int>(a[0]), static_cast<int>(a[1]),
                                            filter_of(a[2]));
          }};
}

OperationSchema resize_crop_schema() {
  return {.name = "resize_crop",
          .summary = "resizes the shorter side, then takes the square in the middle; comes first",
          .parameters = {size_parameter("shorter",
                                        "what the shorter side becomes, in pixels; at "
                                        "least the size"),
                         size_parameter("size", "side of the square"), filter_parameter()},
          .example = "resize_crop(256,224)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<ResizeCrop>(
                std::max(static_cast<int>(a[0]), static_cast<int>(a[1])), static_cast<int>(a[1]),
                filter_of(a[2]));
          }};
}

}  // namespace stoker
