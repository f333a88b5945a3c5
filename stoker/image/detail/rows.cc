#include "stoker/image/detail/rows.h"

#include <cstring>

namespace stoker::detail {
namespace {

// value / 255, rounded, for value in [0, 255 * 255]; the same with 65535.
constexpr std::uint32_t divided(std::uint32_t value, std::uint8_t) {
  const std::uint32_t rounded = value + 128;
  return (rounded + (rounded >> 8)) >> 8;
}
constexpr std::uint32_t divided(std::uint32_t value, std::uint16_t) {
  return (value + 32767) / 65535;
}

template <class Value>
constexpr std::uint32_t kMostOf = static_cast<Value>(~Value{0});

struct Rgb {
  std::uint32_t red, green, blue;
};

// Of 16 bits the sum is below 2^32 too.
constexpr std::uint32_t grey_of(const Rgb& rgb) {
  return (19595 * rgb.red + 38470 * rgb.green + 7471 * rgb.blue + 32768) >> 16;
}

template <class Value>
struct FromGrey {
  static constexpr int kChannels = 1;
  Rgb operator()(const Value* in) const { return {in[0], in[0], in[0]}; }
};

template <class Value>
struct FromRgb {
  static constexpr int kChannels = 3;
  Rgb operator()(const Value* in) const { return {in[0], in[1], in[2]}; }
};

template <class Value>
struct FromRgba {
  static constexpr int kChannels = 4;
  Rgb background;
  [[nodiscard]] static std::uint32_t over(std::uint32_t value, std::uint32_t below,
                                          std::uint32_t alpha) {
    return divided(value * alpha + below * (kMostOf<Value> - alpha), Value{});
  }
  Rgb operator()(const Value* in) const {
    return {over(in[0], background.red, in[3]), over(in[1], background.green, in[3]),
            over(in[2], background.blue, in[3])};
  }
};

// Ink c, m, y, k is the largest value less what is stored; colour is the light that k leaves less
// the ink's fraction of it. Both terms are at most that light, so the difference cannot be
// negative.
template <class Value>
struct FromCmyk {
  static constexpr int kChannels = 4;
  Rgb operator()(const Value* in) const {
    const std::uint32_t light = in[3];
    const auto left = [light](std::uint32_t stored) {
      return light - divided((kMostOf<Value> - stored) * light, Value{});
    };
    return {left(in[0]), left(in[1]), left(in[2])};
  }
};

template <class Value>
void put(Value* out, const Rgb& rgb) {
  out[0] = static_cast<Value>(rgb.red);
  out[1] = static_cast<Value>(rgb.green);
  out[2] = static_cast<Value>(rgb.blue);
}

template <class Value, class From>
void convert(Value* out, const Value* in, std::size_t width, int channels, const From& from) {
  if (channels == 1) {
    for (std::size_t x = 0; x < width; ++x) {
      out[x] = static_cast<Value>(grey_of(from(in + x * From::kChannels)));
    }
    return;
  }
  if (channels == 3) {
    for (std::size_t x = 0; x < width; ++x) put(out + 3 * x, from(in + x * From::kChannels));
    return;
  }
  for (std::size_t x = 0; x < width; ++x) {
    put(out + 4 * x, from(in + x * From::kChannels));
    out[4 * x + 3] = static_cast<Value>(kMostOf<Value>);
  }
}

}  // namespace

template <class Value>
void convert_row(Value* out, const Value* in, std::size_t width, RowFormat format, int channels,
                 const Colour& background) {
  if (is_final(format, channels)) {
    std::memcpy(out, in, width * static_cast<std::size_t>(channels) * sizeof(Value));
    return;
  }
  constexpr std::uint32_t kFactor = kMostOf<Value> / 255;
  switch (format) {
    case RowFormat::kGrey:
      return convert(out, in, width, channels, FromGrey<Value>{});
    case RowFormat::kRgb:
      return convert(out, in, width, channels, FromRgb<Value>{});
    case RowFormat::kCmyk:
      return convert(out, in, width, channels, FromCmyk<Value>{});
    case RowFormat::kRgba:
      return convert(out, in, width, channels,
                     FromRgba<Value>{{background.red * kFactor, background.green * kFactor,
                                      background.blue * kFactor}});
  }
}

template void convert_row(std::uint8_t*, const std::uint8_t*, std::size_t, RowFormat, int,
                          const Colour&);
template void convert_row(std::uint16_t*, const std::uint16_t*, std::size_t, RowFormat, int,
                          const Colour&);

}  // namespace stoker::detail
