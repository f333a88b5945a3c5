#include "stoker/image/detail/wide_values.h"

#include <algorithm>
#include <cstdint>

#include "stoker/core/invariant.h"

namespace stoker::detail {
namespace {

constexpr std::uint32_t kMost = 65535;

// Calls `use` with each value that is no alpha.
template <class Use>
void each_colour_value(const MutableImageView& image, Use use) {
  const int channels = image.shape.channels;
  for (int y = 0; y < image.shape.height; ++y) {
    std::uint16_t* pixel = image.values<std::uint16_t>(y);
    for (int x = 0; x < image.shape.width; ++x, pixel += channels) {
      for (int c = 0; c < std::min(channels, 3); ++c) use(pixel[c]);
    }
  }
}

ValueWindow window_of(const MutableImageView& image) {
  std::uint16_t low = kMost, high = 0;
  each_colour_value(image, [&](std::uint16_t value) {
    low = std::min(low, value);
    high = std::max(high, value);
  });
  return {.low = low, .high = high};
}

}  // namespace

void widen(const MutableImageView& out, const ImageView& in) {
  const std::size_t count = in.shape.values_per_row();
  for (int y = 0; y < in.shape.height; ++y) {
    std::uint16_t* to = out.values<std::uint16_t>(y);
    const std::uint8_t* from = in.row(y);
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<std::uint16_t>(from[i] * 257);
  }
}

void apply_window(const MutableImageView& image, const ValueWindow& window) {
  const ValueWindow chosen = window.of_image ? window_of(image) : window;
  if (chosen.low == chosen.high) {
    return each_colour_value(image, [](std::uint16_t& value) { value = 0; });
  }
  STOKER_INVARIANT(chosen.low >= 0 && chosen.low < chosen.high && chosen.high <= 65535,
                   "a window from {} to {}", chosen.low, chosen.high);
  const auto low = static_cast<std::uint32_t>(chosen.low);
  const auto span = static_cast<std::uint32_t>(chosen.high) - low;
  each_colour_value(image, [low, span](std::uint16_t& value) {
    const std::uint32_t above = value > low ? std::min(value - low, span) : 0;
    value = static_cast<std::uint16_t>((above * kMost + span / 2) / span);
  });
}

}  // namespace stoker::detail
