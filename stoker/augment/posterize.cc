#include "stoker/augment/posterize.h"

namespace stoker {
namespace {

class Posterize final : public PixelOperation {
 public:
  Posterize(int bits, double probability) : bits_(bits), probability_(probability) {}
  void apply(const MutableImageView& image, Rng& rng, const RngStream&,
             AugmentScratch&) const override {
    if (rng.bernoulli(probability_)) posterize_in_place(image, bits_);
  }

 private:
  int bits_;
  double probability_;
};

}  // namespace

Image posterize(const ImageView& image, int bits) {
  return changed(image, [&](const MutableImageView& out) { posterize_in_place(out, bits); });
}

void posterize_in_place(const MutableImageView& image, int bits) {
  check_argument("posterize", "number of bits", bits, 0, 8);
  const auto mask = static_cast<std::uint8_t>(0xFF00 >> bits);
  const std::size_t count = image.shape.bytes();
  std::uint8_t* values = image.data;  // a copy: bytes written could be the view's own
  for (std::size_t i = 0; i < count; ++i) values[i] &= mask;
}

OperationSchema posterize_schema() {
  return {.name = "posterize",
          .summary = "keeps only the highest bits of each value",
          .parameters = {{.name = "bits",
                          .meaning = "how many bits stay",
                          .minimum = 1,
                          .maximum = 8,
                          .whole = true},
                         probability_parameter()},
          .example = "posterize(4,0.2)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<Posterize>(static_cast<int>(a[0]), a[1]);
          }};
}

}  // namespace stoker
