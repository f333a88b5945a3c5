// An image with a heat map over it: where a network looked. Blue is nothing, red the most; the
// image shines through.
// A function without state; it keeps nothing of its input. Cost: the pixels of the image.
#pragma once

#include <span>

#include "stoker/image/image.h"

namespace stoker {

// `heat` has rows * columns values from 0 to 1, spread smoothly over the image. RGB. Throws Error
// where the number of values is another.
[[nodiscard]] Image heat_overlay(const ImageView& image, std::span<const float> heat, int rows,
                                 int columns);

}  // namespace stoker
