#include "stoker/augment/augmix.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "stoker/augment/detail/choices.h"
#include "stoker/core/distributions.h"
#include "stoker/core/portable_math.h"

namespace stoker {
namespace {

constexpr int kMaxWidth = 16, kMaxSeverity = 10;
constexpr int kMixBits = 15;
constexpr std::uint16_t kOne = 1 << kMixBits;

struct Weights {
  std::uint16_t original = kOne;
  std::array<std::uint16_t, kMaxWidth> chains{};
};

// Fractions from a Dirichlet distribution: Gamma numbers divided by their sum.
std::array<double, kMaxWidth> draw_shares(Rng& rng, int width, double alpha) {
  std::array<double, kMaxWidth> shares{};
  for (int i = 0; i < width; ++i) shares[i] = draw_log_gamma(rng, alpha);
  const double largest = *std::max_element(shares.begin(), shares.begin() + width);
  double sum = 0;
  for (int i = 0; i < width; ++i) sum += shares[i] = portable_exp(shares[i] - largest);
  for (int i = 0; i < width; ++i) shares[i] /= sum;
  return shares;
}

// Rounded down, so that what is left for the original is never negative.
Weights draw_weights(Rng& rng, int width, double alpha) {
  const double chains = 1 - draw_beta(rng, alpha, alpha);
  const auto shares = draw_shares(rng, width, alpha);
  Weights weights;
  for (int i = 0; i < width; ++i) {
    const double share = std::floor(kOne * chains * shares[i]);
    // At most what is left: shares may add up to a little more than 1.
    weights.chains[i] = std::min(static_cast<std::uint16_t>(share), weights.original);
    weights.original = static_cast<std::uint16_t>(weights.original - weights.chains[i]);
  }
  return weights;
}

void add_weighted(std::vector<std::uint32_t>& sums, const ImageView& image, std::uint16_t weight) {
  const std::uint8_t* values = image.data;
  std::uint32_t* out = sums.data();
  const std::size_t count = image.shape.bytes();
  // 16 times 16 bits, for which every CPU has vectors.
  for (std::size_t i = 0; i < count; ++i) {
    out[i] += std::uint32_t{static_cast<std::uint16_t>(values[i])} * std::uint32_t{weight};
  }
}

class AugMix final : public PixelOperation {
 public:
  AugMix(int severity, int width, int depth, double alpha)
      : severity_(severity), width_(width), depth_(depth), alpha_(alpha) {}

  void apply(const MutableImageView& image, Rng& rng, const RngStream&,
             AugmentScratch& scratch) const override {
    const Weights weights = draw_weights(rng, width_, alpha_);
    const std::size_t count = image.shape.bytes();
    scratch.mix.assign(count, kOne / 2);
    add_weighted(scratch.mix, image, weights.original);
    scratch.chain.reshape(image.shape);
    for (int i = 0; i < width_; ++i) {
      copy_pixels(scratch.chain.view(), image);
      change(scratch.chain.view(), rng, scratch);
      add_weighted(scratch.mix, scratch.chain.view(), weights.chains[i]);
    }
    std::uint8_t* values = image.data;
    const std::uint32_t* sums = scratch.mix.data();
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = static_cast<std::uint8_t>(sums[i] >> kMixBits);
    }
  }

 private:
  void change(const MutableImageView& image, Rng& rng, AugmentScratch& scratch) const {
    // The first `severity` of ten magnitudes.
    const auto level = [this](Rng& r) {
      return static_cast<double>(r.uniform_int(severity_)) / (kMaxSeverity - 1);
    };
    const int depth = depth_ > 0 ? depth_ : 1 + static_cast<int>(rng.uniform_int(3));
    for (int i = 0; i < depth; ++i) {
      apply_change(image, detail::choose(rng, detail::augmix_choices(), level), scratch);
    }
  }

  int severity_, width_, depth_;
  double alpha_;
};

ParameterSchema whole(const char* name, const char* meaning, double minimum, double maximum,
                      double value) {
  return {.name = name,
          .meaning = meaning,
          .minimum = minimum,
          .maximum = maximum,
          .default_value = value,
          .whole = true};
}

}  // namespace

OperationSchema augmix_schema() {
  return {.name = "augmix",
          .summary = "mixes the image with several differently changed versions of it",
          .parameters = {whole("severity", "how strong changes may be", 1, kMaxSeverity, 3),
                         whole("width", "how many changed versions", 1, kMaxWidth, 3),
                         whole("depth", "changes of each; 0 or -1 means one to three by chance", -1,
                               16, -1),
                         {.name = "alpha",
                          .meaning = "of the distributions of weights",
                          .minimum = 0.01,
                          .maximum = 100,
                          .default_value = 1}},
          .example = "augmix(3,3,-1,1)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<AugMix>(static_cast<int>(a[0]), static_cast<int>(a[1]),
                                            static_cast<int>(a[2]), a[3]);
          }};
}

}  // namespace stoker
