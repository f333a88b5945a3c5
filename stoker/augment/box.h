// A rectangle of pixels.
#pragma once

namespace stoker {

/// A rectangle of pixels.
struct Box {
  int y = 0, x = 0;  // upper left pixel
  int height = 0, width = 0;
  bool operator==(const Box&) const = default;
};

}  // namespace stoker
