#include "stoker/data/sources/subset.h"

#include <set>

#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

// Sample i of n is an image of one pixel with the value i.
class NumberedImages final : public Source {
 public:
  [[nodiscard]] std::uint64_t size() const override { return 200; }
  [[nodiscard]] ImageShape shape() const override { return {1, 1, 1}; }
  [[nodiscard]] const std::vector<std::string>& class_names() const override { return names_; }
  [[nodiscard]] std::string sample_name(std::uint64_t index) const override {
    return std::to_string(index);
  }
  [[nodiscard]] Result<Sample> read(std::uint64_t index, SampleBuffer& buffer) const override {
    buffer.decoded.reshape(shape());
    buffer.decoded.view().data[0] = static_cast<std::uint8_t>(index);
    return Sample{.image = std::as_const(buffer.decoded).view(), .label = 0};
  }

 private:
  std::vector<std::string> names_ = {"number"};
};

std::vector<int> subset_values(const Source& source) {
  std::vector<int> values;
  SampleBuffer buffer;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    values.push_back(source.read(i, buffer).value().image.at(0, 0));
    EXPECT_EQ(source.sample_name(i), std::to_string(values.back()));
  }
  return values;
}

TEST(Subset, TakesDifferentSamplesAndTheSeedAloneSaysWhich) {
  const auto all = std::make_shared<NumberedImages>();
  const std::vector<int> values = subset_values(Subset(all, 50, 1));
  EXPECT_EQ(std::set<int>(values.begin(), values.end()).size(), 50U);
  EXPECT_EQ(subset_values(Subset(all, 50, 1)), values);
  EXPECT_NE(subset_values(Subset(all, 50, 2)), values);
  // More samples are these and others, so that tries of several sizes can be compared.
  const std::vector<int> more = subset_values(Subset(all, 60, 1));
  EXPECT_TRUE(std::equal(values.begin(), values.end(), more.begin()));
}

TEST(Subset, AllAreAPartToo) {
  EXPECT_EQ(subset_values(Subset(std::make_shared<NumberedImages>(), 200, 1)).size(), 200U);
}

TEST(Subset, NoneOrMoreThanThereAreIsAnError) {
  EXPECT_THROW(Subset(std::make_shared<NumberedImages>(), 0, 1), Error);
  EXPECT_THROW(Subset(std::make_shared<NumberedImages>(), 201, 1), Error);
}

}  // namespace
}  // namespace stoker
