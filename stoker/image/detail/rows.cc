#include "stoker/image/detail/rows.h"

#include <cstring>

namespace stoker::detail {
namespace {

// value / 255, rounded, for value in [0, 255 * 255].
constexpr std::uint32_t div_255(std::uint32_t value) {
  const std::uint32_t rounded = value + 128;
  return (rounded + (rounded >> 8)) >> 8;
}

struct Rgb {
  std::uint32_t red, green, blue;
};

constexpr std::uint8_t grey_of(const Rgb& rgb) {
  return static_cast<std::uint8_t>(
      (19595 * rgb.red + 38470 * rgb.green + 7471 * rgb.blue + 32768) >> 16);
}

struct FromRgb {
  static constexpr int kChannels = 3;
  Rgb operator()(const std::uint8_t* in) const { return {in[0], in[1], in[2]}; }
};

struct FromRgba {
  static constexpr int kChannels = 4;
  Rgb background;
  [[nodiscard]] static std::uint32_t over(std::uint32_t value, std::uint32_t below,
                                          std::uint32_t alpha) {
    return div_255(value * alpha + below * (255 - alpha));
  }
  Rgb operator()(const std::uint8_t* in) const {
    return {over(in[0], background.red, in[3]), over(in[1], background.green, in[3]),
            over(in[2], background.blue, in[3])};
  }
};

// Ink c, m, y, k is 255 - stored; colour is (255 - k) less the ink's fraction of it. Both terms are
// at most 255 - k, so the difference cannot be negative.
struct FromCmyk {
  static constexpr int kChannels = 4;
  Rgb operator()(const std::uint8_t* in) const {
    const std::uint32_t light = in[3];
    return {light - div_255((255U - in[0]) * light), light - div_255((255U - in[1]) * light),
            light - div_255((255U - in[2]) * light)};
  }
};

template <class From>
void convert(std::uint8_t* out, const std::uint8_t* in, std::size_t width, int channels,
             const From& from) {
  if (channels == 1) {
    for (std::size_t x = 0; x < width; ++x) out[x] = grey_of(from(in + x * From::kChannels));
    return;
  }
  for (std::size_t x = 0; x < width; ++x) {
    const Rgb rgb = from(in + x * From::kChannels);
    out[3 * x] = static_cast<std::uint8_t>(rgb.red);
    out[3 * x + 1] = static_cast<std::uint8_t>(rgb.green);
    out[3 * x + 2] = static_cast<std::uint8_t>(rgb.blue);
  }
}

void repeat_grey(std::uint8_t* out, const std::uint8_t* in, std::size_t width) {
  for (std::size_t x = 0; x < width; ++x) {
    out[3 * x] = out[3 * x + 1] = out[3 * x + 2] = in[x];
  }
}

}  // namespace

void convert_row(std::uint8_t* out, const std::uint8_t* in, std::size_t width, RowFormat format,
                 int channels, const Colour& background) {
  if (is_final(format, channels)) {
    std::memcpy(out, in, width * static_cast<std::size_t>(channels));
    return;
  }
  switch (format) {
    case RowFormat::kGrey:
      return repeat_grey(out, in, width);
    case RowFormat::kRgb:
      return convert(out, in, width, channels, FromRgb{});
    case RowFormat::kCmyk:
      return convert(out, in, width, channels, FromCmyk{});
    case RowFormat::kRgba:
      return convert(out, in, width, channels,
                     FromRgba{{background.red, background.green, background.blue}});
  }
}

}  // namespace stoker::detail
