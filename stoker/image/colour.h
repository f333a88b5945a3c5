/// \file
/// A colour of 8-bit parts. A plain value.
#pragma once

#include <cstdint>

namespace stoker {

/// Red, green and blue.
struct Colour {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  /// Brightness as the eye weighs it (Rec. 601, rounded): what a grey image shows.
  [[nodiscard]] constexpr std::uint8_t grey() const {
    return static_cast<std::uint8_t>((299 * red + 587 * green + 114 * blue + 500) / 1000);
  }
  bool operator==(const Colour&) const = default;
};

}  // namespace stoker
