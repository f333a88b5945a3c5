#include "stoker/augment/operation.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"
#include "stoker/kernels/mirror/mirror.h"

namespace stoker {

std::string usage(const OperationSchema& schema) {
  std::string text = schema.name + "(";
  for (std::size_t i = 0; i < schema.parameters.size(); ++i) {
    text += (i == 0 ? "" : ",") + schema.parameters[i].name;
  }
  return text + ")";
}

std::vector<ParameterSchema> range_parameters(const std::string& meaning, double minimum,
                                              double maximum) {
  return {
      {.name = "low", .meaning = "smallest " + meaning, .minimum = minimum, .maximum = maximum},
      {.name = "high", .meaning = "largest " + meaning, .minimum = minimum, .maximum = maximum}};
}

std::vector<ParameterSchema> range_and_probability(const std::string& meaning, double minimum,
                                                   double maximum) {
  auto parameters = range_parameters(meaning, minimum, maximum);
  parameters.push_back(probability_parameter());
  return parameters;
}

ParameterSchema probability_parameter(double default_value) {
  return {.name = "p",
          .meaning = "probability that it is done",
          .minimum = 0,
          .maximum = 1,
          .default_value = default_value};
}

void check_argument(const char* operation, const char* meaning, double value, double minimum,
                    double maximum) {
  if (value >= minimum && value <= maximum) return;
  throw Error({.what = fmt::format("{}: the {} is out of range", operation, meaning),
               .expected = fmt::format("{} to {}", minimum, maximum),
               .found = fmt::format("{}", value)});
}

namespace {

bool is_whole(double value) { return std::abs(value) < kMaxSide && value == std::floor(value); }

// Output pixels go one to one, from left to right or mirrored, and so do rows.
bool moves_whole_pixels(const Affine& map) {
  return map.xy == 0 && map.yx == 0 && std::abs(map.xx) == 1 && std::abs(map.yy) == 1 &&
         is_whole(map.x0) && is_whole(map.y0);
}

// From right to left, pixels of any number of bytes.
void mirror_wide_row(std::uint8_t* out, const std::uint8_t* in, std::size_t width,
                     std::size_t pixel) {
  for (std::size_t x = 0; x < width; ++x) {
    std::memcpy(out + x * pixel, in + (width - 1 - x) * pixel, pixel);
  }
}

// One row of copy_moved: out[x] = in[x0 + x], or in[x0 - x] where mirrored.
void copy_row(std::uint8_t* out, const std::uint8_t* in, const ImageShape& shape, int x0,
              bool mirrored) {
  const int first = std::clamp(mirrored ? x0 - shape.width + 1 : -x0, 0, shape.width);
  const int last = std::clamp(mirrored ? x0 + 1 : shape.width - x0, first, shape.width);
  const std::size_t c = shape.bytes_per_pixel(), pixels = last - first;
  std::memset(out, 0, first * c);
  std::memset(out + last * c, 0, (shape.width - last) * c);
  if (pixels == 0) return;
  if (mirrored && shape.wide()) {
    mirror_wide_row(out + first * c, in + (x0 - last + 1) * c, pixels, c);
  } else if (mirrored) {
    mirror_row(out + first * c, in + (x0 - last + 1) * c, pixels, shape.channels);
  } else {
    std::memcpy(out + first * c, in + (x0 + first) * c, pixels * c);
  }
}

void copy_moved(const MutableImageView& out, const ImageView& in, const Affine& map) {
  const int x0 = static_cast<int>(map.x0), y0 = static_cast<int>(map.y0);
  for (int y = 0; y < out.shape.height; ++y) {
    const int from = map.yy > 0 ? y0 + y : y0 - y;
    if (from < 0 || from >= in.shape.height) {
      std::memset(out.row(y), 0, out.shape.bytes_per_row());
    } else {
      copy_row(out.row(y), in.row(from), in.shape, x0, map.xx < 0);
    }
  }
}

}  // namespace

void resample(const MutableImageView& out, const ImageView& in, const Affine& map,
              WarpScratch& scratch) {
  STOKER_INVARIANT(out.shape == in.shape, "shapes differ");
  if (moves_whole_pixels(map)) {
    copy_moved(out, in, map);
  } else {
    warp_affine(out, in, to_fixed(map), scratch);
  }
}

void resample_in_place(const MutableImageView& image, const Affine& map, AugmentScratch& scratch) {
  if (map == Affine{}) return;
  scratch.source.reshape(image.shape);
  copy_pixels(scratch.source.view(), image);
  resample(image, scratch.source.view(), map, scratch.warp);
}

Image warped(const ImageView& image, const Affine& map) {
  Image out(image.shape);
  WarpScratch scratch;
  resample(out.view(), image, map, scratch);
  return out;
}

}  // namespace stoker
