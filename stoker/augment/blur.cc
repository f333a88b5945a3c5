#include "stoker/augment/blur.h"

namespace stoker {
namespace {

class GaussianBlur final : public PixelOperation {
 public:
  GaussianBlur(int size, Range sigma, double probability)
      : size_(size), sigma_(sigma), probability_(probability) {
    // Refuses an even size when the policy is read, not at the first image.
    static_cast<void>(gaussian_weights(size, sigma.low));
  }
  void apply(const MutableImageView& image, Rng& rng, const RngStream&,
             AugmentScratch& scratch) const override {
    if (rng.bernoulli(probability_)) {
      gaussian_blur_in_place(image, size_, sigma_.draw(rng), scratch);
    }
  }

 private:
  int size_;
  Range sigma_;
  double probability_;
};

}  // namespace

Image gaussian_blur(const ImageView& image, int size, double sigma) {
  Image out(image.shape);
  BlurScratch scratch;
  blur(out.view(), image, gaussian_weights(size, sigma), scratch);
  return out;
}

void gaussian_blur_in_place(const MutableImageView& image, int size, double sigma,
                            AugmentScratch& scratch) {
  scratch.source.reshape(image.shape);
  copy_pixels(scratch.source.view(), image);
  blur(image, scratch.source.view(), gaussian_weights(size, sigma), scratch.blur);
}

OperationSchema blur_schema() {
  std::vector<ParameterSchema> parameters = {{.name = "size",
                                              .meaning = "side of the kernel in pixels, odd",
                                              .minimum = 1,
                                              .maximum = 2 * kMaxBlurRadius + 1,
                                              .whole = true}};
  for (ParameterSchema& p : range_and_probability("sigma in pixels", 0.01, 100)) {
    parameters.push_back(std::move(p));
  }
  return {.name = "blur",
          .summary = "blurs the image with a Gaussian",
          .parameters = std::move(parameters),
          .example = "blur(23,0.1,2,0.5)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<GaussianBlur>(static_cast<int>(a[0]), Range{a[1], a[2]}, a[3]);
          }};
}

}  // namespace stoker
