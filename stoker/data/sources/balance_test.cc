#include "stoker/data/sources/balance.h"

#include <map>

#include <gtest/gtest.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

// Samples of classes 0, 1, 2 in a mixture; pixels say which sample it is.
class Lopsided final : public Source {
 public:
  explicit Lopsided(std::vector<std::int64_t> labels) : labels_(std::move(labels)) {}
  [[nodiscard]] std::uint64_t size() const override { return labels_.size(); }
  [[nodiscard]] ImageShape shape() const override { return {1, 1, 1}; }
  [[nodiscard]] const std::vector<std::string>& class_names() const override { return names_; }
  [[nodiscard]] std::string sample_name(std::uint64_t index) const override {
    return std::to_string(index);
  }
  [[nodiscard]] Result<Sample> read(std::uint64_t index, SampleBuffer& buffer) const override {
    buffer.decoded = Image(ImageShape{1, 1, 1});
    *buffer.decoded.view().row(0) = static_cast<std::uint8_t>(index);
    return Sample{.image = buffer.decoded.view(), .label = labels_[index]};
  }

 private:
  std::vector<std::int64_t> labels_;
  std::vector<std::string> names_ = {"a", "b", "c"};
};

const std::vector<std::int64_t> kLabels = {0, 1, 0, 0, 2, 0, 0, 1, 0, 0};

TEST(Balance, FindsTheSamplesOfEachClass) {
  const auto by_class = samples_by_class(Lopsided(kLabels));
  EXPECT_EQ(by_class[1], (std::vector<std::uint64_t>{1, 7}));
  EXPECT_EQ(by_class[2], (std::vector<std::uint64_t>{4}));
}

TEST(Balance, WeightsHaveTheMeanOneOverTheSamples) {
  const auto by_class = samples_by_class(Lopsided(kLabels));
  const std::vector<double> weights = balancing_weights(by_class);
  double sum = 0;
  for (std::size_t c = 0; c < 3; ++c) sum += weights[c] * static_cast<double>(by_class[c].size());
  EXPECT_NEAR(sum, 10, 1e-12);
  EXPECT_NEAR(weights[2] / weights[0], 7, 1e-12);
}

TEST(Balance, EveryClassComesEquallyOften) {
  const Balanced balanced(std::make_shared<Lopsided>(kLabels), 3);
  ASSERT_EQ(balanced.size(), 21U);
  std::map<std::uint64_t, int> seen;
  SampleBuffer buffer, other;
  for (std::uint64_t i = 0; i < balanced.size(); ++i) {
    auto sample = balanced.read(i, buffer);
    EXPECT_EQ(sample.value().label, balanced.label(i, other).value());
    EXPECT_EQ(sample.value().image.data[0], balanced.original(i));
    ++seen[balanced.original(i)];
  }
  EXPECT_EQ(seen.size(), 10U) << "every sample is there";
  EXPECT_EQ(seen[4], 7);
  EXPECT_EQ(seen[1] + seen[7], 7);
  EXPECT_LE(std::abs(seen[1] - seen[7]), 1);
  EXPECT_EQ(seen[0], 1);
}

TEST(Balance, ClassesThatCannotBeBalancedAreErrors) {
  EXPECT_THROW(Balanced(std::make_shared<Lopsided>(std::vector<std::int64_t>{0, 1}), 3), Error);
  EXPECT_THROW(static_cast<void>(samples_by_class(Lopsided({0, -1}))), Error);
}

}  // namespace
}  // namespace stoker
