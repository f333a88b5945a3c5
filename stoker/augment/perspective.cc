#include "stoker/augment/perspective.h"

namespace stoker {
namespace {

Perspective map_to(const ImageShape& shape, const Quadrangle& to) {
  const double right = shape.width - 1, bottom = shape.height - 1;
  return perspective_between({{{0, 0}, {right, 0}, {right, bottom}, {0, bottom}}}, to);
}

// Walking around it, all corners turn to the same side. The perspective onto another shape would
// show parts of the image twice, or none.
bool is_convex(const Quadrangle& q) {
  for (std::size_t i = 0; i < 4; ++i) {
    const Place &a = q[i], &b = q[(i + 1) % 4], &c = q[(i + 2) % 4];
    if ((b.x - a.x) * (c.y - b.y) - (b.y - a.y) * (c.x - b.x) <= 0) return false;
  }
  return true;
}

class RandomPerspective final : public PixelOperation {
 public:
  RandomPerspective(double distortion, double probability)
      : distortion_(distortion), probability_(probability) {}
  void apply(const MutableImageView& image, Rng& rng, const RngStream&,
             AugmentScratch& scratch) const override {
    if (!rng.bernoulli(probability_)) return;
    if (image.shape.width < 2 || image.shape.height < 2) return;  // a line has no perspective
    const Perspective map = map_to(image.shape, draw_corners(rng, image.shape, distortion_));
    scratch.source.reshape(image.shape);
    copy_pixels(scratch.source.view(), image);
    warp_perspective(image, scratch.source.view(), map, scratch.warp);
  }
  [[nodiscard]] bool takes_wide() const override { return true; }

 private:
  double distortion_, probability_;
};

}  // namespace

Image perspective(const ImageView& image, const Quadrangle& to) {
  Image out(image.shape);
  WarpScratch scratch;
  warp_perspective(out.view(), image, map_to(image.shape, to), scratch);
  return out;
}

Quadrangle draw_corners(Rng& rng, const ImageShape& shape, double distortion) {
  const int half_width = shape.width / 2, half_height = shape.height / 2;
  const auto inwards_x = static_cast<std::uint32_t>(distortion * half_width);
  const auto inwards_y = static_cast<std::uint32_t>(distortion * half_height);
  const double right = shape.width - 1, bottom = shape.height - 1;
  const Quadrangle unmoved = {{{0, 0}, {right, 0}, {right, bottom}, {0, bottom}}};
  for (int attempt = 0; attempt < 10; ++attempt) {
    Quadrangle corners = unmoved;
    for (Place& corner : corners) {
      const double x = rng.uniform_int(inwards_x + 1), y = rng.uniform_int(inwards_y + 1);
      corner.x += corner.x == 0 ? x : -x;
      corner.y += corner.y == 0 ? y : -y;
    }
    if (is_convex(corners)) return corners;
  }
  return unmoved;
}

OperationSchema perspective_schema() {
  return {.name = "perspective",
          .summary = "looks at the image from a random side; black fills",
          .parameters = {{.name = "distortion",
                          .meaning = "how far corners move, as a fraction of half a side",
                          .minimum = 0,
                          .maximum = 1,
                          .default_value = 0.5},
                         probability_parameter(0.5)},
          .example = "perspective(0.5,0.5)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<RandomPerspective>(a[0], a[1]);
          }};
}

}  // namespace stoker
