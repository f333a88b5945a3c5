#include "stoker/data/sources/joined_source.h"

#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/data/sources/source_range.h"
#include "stoker/data/sources/subset.h"

namespace stoker {
namespace {

// Sample i is one pixel with the value first + i.
class Numbers final : public Source {
 public:
  Numbers(std::uint64_t size, int first, std::vector<std::string> names = {"number"}, int side = 1,
          int channels = 1)
      : size_(size), first_(first), names_(std::move(names)), shape_{side, side, channels} {}
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] ImageShape shape() const override { return shape_; }
  [[nodiscard]] const std::vector<std::string>& class_names() const override { return names_; }
  [[nodiscard]] std::string sample_name(std::uint64_t index) const override {
    return std::to_string(first_ + static_cast<int>(index));
  }
  [[nodiscard]] Result<Sample> read(std::uint64_t index, SampleBuffer& buffer) const override {
    buffer.decoded.reshape(shape());
    buffer.decoded.view().data[0] = static_cast<std::uint8_t>(first_ + static_cast<int>(index));
    return Sample{.image = std::as_const(buffer.decoded).view(),
                  .label = first_ + static_cast<int>(index)};
  }

 private:
  std::uint64_t size_;
  int first_;
  std::vector<std::string> names_;
  ImageShape shape_;
};

std::vector<int> values_of(const Source& source) {
  std::vector<int> values;
  SampleBuffer buffer;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    values.push_back(source.read(i, buffer).value().image.at(0, 0));
    EXPECT_EQ(source.sample_name(i), std::to_string(values.back()));
    EXPECT_EQ(source.label(i, buffer).value(), values.back());
  }
  return values;
}

TEST(SourceRange, ShowsItsSamplesInTheirOrder) {
  const auto all = std::make_shared<Numbers>(10, 0);
  EXPECT_EQ(values_of(SourceRange(all, {.begin = 3, .end = 6}, "x")), (std::vector{3, 4, 5}));
  EXPECT_EQ(values_of(SourceRange(all, {.begin = 8}, "x")), (std::vector{8, 9}));
}

TEST(SourceRange, RefusesWhatLiesOutside) {
  const auto all = std::make_shared<Numbers>(10, 0);
  for (const IndexRange range : {IndexRange{3, 11}, IndexRange{10, 11}, IndexRange{10},
                                 IndexRange{5, 5}, IndexRange{6, 5}}) {
    const ErrorDetails error = error_of([&] { (void)SourceRange(all, range, "mnist:train"); });
    EXPECT_EQ(error.what, "cannot take a range of mnist:train");
    EXPECT_EQ(error.expected, "0 <= begin < end <= 10, its number of samples");
  }
}

TEST(ChosenSamples, AreTheFirstSomeAtRandomOrAll) {
  const auto all = std::make_shared<Numbers>(100, 0);
  EXPECT_EQ(values_of(*chosen_samples(all, "first:3", 1)), (std::vector{0, 1, 2}));
  EXPECT_EQ(chosen_samples(all, "0", 1), all);
  EXPECT_EQ(values_of(*chosen_samples(all, "5", 1)), values_of(Subset(all, 5, 1)));
  for (const char* wrong : {"", "first:", "first:0", "first:101", "101", "last:5", "5x", "-1"}) {
    EXPECT_THROW((void)chosen_samples(all, wrong, 1), Error) << wrong;
  }
}

TEST(JoinedSource, ShowsOnePartAfterTheOther) {
  const JoinedSource joined({{"a", std::make_shared<Numbers>(2, 10)},
                             {"b", std::make_shared<Numbers>(1, 20)},
                             {"c", std::make_shared<Numbers>(3, 30)}});
  EXPECT_EQ(values_of(joined), (std::vector{10, 11, 20, 30, 31, 32}));
  EXPECT_EQ(joined.shape(), (ImageShape{1, 1, 1}));
  SampleBuffer buffer;
  EXPECT_EQ(joined.read_framed(2, {}, buffer).value().label, 20);
  auto bytes = joined.read_bytes(3, [](std::size_t) { return std::span<std::byte>(); });
  EXPECT_EQ(joined.decode(3, bytes.value(), {}, buffer).value().label, 30);
}

TEST(JoinedSource, RefusesPartsThatDoNotFit) {
  const auto numbers = std::make_shared<Numbers>(2, 0);
  const auto message = [&](const std::shared_ptr<const Source>& other) {
    return message_of([&] {
      static_cast<void>(JoinedSource({{"one", numbers}, {"two", other}}).shape());
    });
  };
  EXPECT_NE(message(std::make_shared<Numbers>(2, 0, std::vector<std::string>{"letter"}))
                .find("\"number\" as class 0 of 1"),
            std::string::npos);
  EXPECT_NE(message(std::make_shared<Numbers>(2, 0, std::vector<std::string>{"number", "letter"}))
                .find("\"letter\" as class 1 of 2"),
            std::string::npos);
  EXPECT_NE(message(std::make_shared<Numbers>(2, 0, std::vector<std::string>{"number"}, 1, 3))
                .find("1 channels"),
            std::string::npos);
  EXPECT_NE(message(std::make_shared<Numbers>(2, 0, std::vector<std::string>{"number"}, 2))
                .find("one and two differ in size"),
            std::string::npos);
}

}  // namespace
}  // namespace stoker
