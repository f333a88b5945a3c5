// Test program: `augment_cat HEIGHT WIDTH CHANNELS SEED POLICY` reads the bytes of an image,
// applies the policy and writes the bytes of the result. Instead of a policy, eight numbers x0 y0
// x1 y1 … are the corners of a perspective. tests/augment_test.py compares with Pillow.
#include <cstdio>
#include <exception>
#include <string>

#include <fmt/format.h>

#include "stoker/augment/perspective.h"
#include "stoker/augment/policy.h"
#include "stoker/core/error.h"

namespace {

using namespace stoker;  // NOLINT: a program of one file

Image read_image(char** arguments) {
  const auto number = [&](int i) { return std::stoi(arguments[i]); };
  Image image({.height = number(1), .width = number(2), .channels = number(3)});
  if (std::fread(image.view().data, 1, image.shape().bytes(), stdin) != image.shape().bytes()) {
    throw Error({.what = "cannot read the image", .expected = "height * width * channels bytes"});
  }
  return image;
}

Image change(const Image& in, int count, char** arguments) {
  if (count == 6) {
    return Policy::parse(arguments[5]).apply(in.view(), {.seed = std::stoull(arguments[4])});
  }
  Quadrangle to{};
  for (int i = 0; i < 4; ++i) {
    to[i] = {.x = std::stod(arguments[5 + 2 * i]), .y = std::stod(arguments[6 + 2 * i])};
  }
  return perspective(in.view(), to);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 6 && count != 13) {
    std::fputs("usage: augment_cat HEIGHT WIDTH CHANNELS SEED POLICY|CORNERS\n", stderr);
    return 2;
  }
  try {
    const Image out = change(read_image(arguments), count, arguments);
    return std::fwrite(out.view().data, 1, out.shape().bytes(), stdout) == out.shape().bytes() ? 0
                                                                                               : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "augment_cat: {}\n", error.what());
    return 1;
  }
}
