// Images for tests: scenes that differ from each other, and changed copies of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "stoker/core/test_files.h"
#include "stoker/image/png.h"
#include "stoker/image/test_codecs.h"
#include "stoker/image/test_images.h"
#include "stoker/kernels/resize/resize.h"

namespace stoker::test {

inline Image resized(const Image& image, int width, int height) {
  Image out({.height = height, .width = width, .channels = image.shape().channels});
  ResizeScratch scratch;
  resize(out.view(), image.view(), whole_image(image.shape()), {}, scratch);
  return out;
}

// Soft random shapes: like a photograph, most of it lies in the low frequencies.
inline Image scene(std::uint64_t seed, int width = 96, int height = 72, int channels = 3) {
  return resized(random_image({.height = 9, .width = 12, .channels = channels}, seed), width,
                 height);
}

inline Bytes png_of(const Image& image) {
  const std::vector<std::byte> bytes = encode_png(image.view());
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return {first, first + bytes.size()};
}

inline Image changed(Image image, int factor_percent, int offset) {
  for (std::size_t i = 0; i < image.shape().bytes(); ++i) {
    std::uint8_t& value = image.view().data[i];
    value = static_cast<std::uint8_t>(std::clamp(value * factor_percent / 100 + offset, 0, 255));
  }
  return image;
}

inline Image mirrored(const Image& image) {
  Image out(image.shape());
  const int width = image.shape().width, channels = image.shape().channels;
  for (int y = 0; y < image.shape().height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        out.view().row(y)[(width - 1 - x) * channels + c] = image.at(y, x, c);
      }
    }
  }
  return out;
}

}  // namespace stoker::test
