#include "stoker/data/division.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/data/sources/folder_source.h"
#include "stoker/data/sources/idx.h"
#include "stoker/data/sources/source_view.h"
#include "stoker/data/split.h"
#include "stoker/data/test_files.h"

namespace stoker {
namespace {

using testing::HasSubstr;

// n images of 2x3 for each class, all different; `copies` of them once more at the end, as class 0.
std::shared_ptr<const Source> made_idx(std::uint32_t classes, std::uint32_t each,
                                       std::uint32_t copies = 0) {
  Bytes pixels, labels;
  for (std::uint32_t i = 0; i < classes * each; ++i) {
    for (const std::uint32_t value : {i, i >> 8, i >> 16, 1U, 2U, 3U}) {
      pixels.push_back(static_cast<std::uint8_t>(value));
    }
    labels.push_back(static_cast<std::uint8_t>(i % classes));
  }
  for (std::uint32_t i = 0; i < copies; ++i) {
    for (std::size_t k = 0; k < 6; ++k) pixels.push_back(pixels[i * 6 + k]);
    labels.push_back(0);
  }
  const auto n = static_cast<std::uint32_t>(labels.size());
  static std::vector<Bytes> files;  // arrays are views of them
  files.reserve(1000);
  const Bytes& images_file = files.emplace_back(idx_bytes({0x803, n, 2, 3}, pixels));
  const Bytes& labels_file = files.emplace_back(labels_idx(labels));
  return std::make_shared<IdxSource>(parse_idx(as_span(images_file), "images"),
                                     parse_idx(as_span(labels_file), "labels"));
}

std::set<std::uint64_t> places_of(const Source& part) {
  std::set<std::uint64_t> places;
  const auto& view = dynamic_cast<const SourceView&>(part);
  for (std::uint64_t i = 0; i < part.size(); ++i) places.insert(view.original(i));
  return places;
}

std::map<std::int64_t, std::uint64_t> class_counts(const Source& source) {
  std::map<std::int64_t, std::uint64_t> counts;
  SampleBuffer buffer;
  for (std::uint64_t i = 0; i < source.size(); ++i) ++counts[source.label(i, buffer).value()];
  return counts;
}

Division by_fraction(double fraction, std::uint64_t seed = 0) {
  return {.kind = Division::Kind::kFraction, .fraction = fraction, .seed = seed};
}

Division by_folds(std::uint32_t folds, std::uint32_t fold, std::uint64_t seed = 0) {
  return {.kind = Division::Kind::kFolds, .folds = folds, .fold = fold, .seed = seed};
}

TEST(Division, TakesTheFractionOfEachClass) {
  const auto source = made_idx(5, 40);
  const auto [train, validation] = divide(source, by_fraction(0.1));
  EXPECT_EQ(train->size(), 180U);
  EXPECT_EQ(validation->size(), 20U);
  for (const auto& [label, count] : class_counts(*validation)) EXPECT_EQ(count, 4U) << label;
  EXPECT_EQ(train->class_names(), source->class_names());
  std::set<std::uint64_t> all = places_of(*train), other = places_of(*validation);
  all.insert(other.begin(), other.end());
  EXPECT_EQ(all.size(), 200U) << "each sample once";
}

TEST(Division, FollowsItsSeedAlone) {
  const auto source = made_idx(5, 40);
  const auto first = places_of(*divide(source, by_fraction(0.1)).validation);
  EXPECT_EQ(places_of(*divide(source, by_fraction(0.1)).validation), first);
  EXPECT_NE(places_of(*divide(source, by_fraction(0.1, 1)).validation), first);
}

TEST(Division, KeepsSamplesOfTheSameContentTogether) {
  const auto source = made_idx(2, 100, 50);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    for (const Division& division : {by_fraction(0.3, seed), by_folds(4, 1, seed),
                                     Division{.kind = Division::Kind::kEvery, .every = 3}}) {
      const auto validation = places_of(*divide(source, division).validation);
      for (std::uint64_t i = 0; i < 50; ++i) {
        EXPECT_EQ(validation.contains(i), validation.contains(200 + i)) << to_text(division);
      }
    }
  }
}

TEST(Division, FoldsAreAlikeInClassesAndCoverEverySampleOnce) {
  const auto source = made_idx(3, 35, 10);
  std::vector<int> seen(source->size());
  for (std::uint32_t fold = 0; fold < 4; ++fold) {
    const auto [train, validation] = divide(source, by_folds(4, fold, 7));
    EXPECT_EQ(train->size() + validation->size(), source->size());
    EXPECT_NEAR(static_cast<double>(validation->size()), 115 / 4.0, 2);
    for (const auto& [label, count] : class_counts(*validation)) {
      EXPECT_NEAR(static_cast<double>(count), label == 0 ? 45 / 4.0 : 35 / 4.0, 3) << label;
    }
    for (const std::uint64_t place : places_of(*validation)) ++seen[place];
  }
  EXPECT_TRUE(std::ranges::all_of(seen, [](int count) { return count == 1; }));
}

TEST(Division, OfAFolderIsThatOfStokerSplit) {
  ImageListing listing;
  for (std::uint64_t i = 0; i < 60; ++i) {  // sizes differ: no file is read
    listing.images.push_back({.path = fmt::format("c{}/{}.jpg", i / 30, i),
                              .label = static_cast<std::int32_t>(i / 30),
                              .bytes = i});
  }
  listing.class_names = {"c0", "c1"};
  listing.ignored = {{.path = "Thumbs.db", .reason = "junk"}};
  const auto source = std::make_shared<FolderSource>(listing, FolderOptions{.channels = 1});
  const auto paths = [](const ImageListing& some) {
    std::vector<std::string> names;
    for (const ListedImage& image : some.images) names.push_back(image.path);
    return names;
  };
  const auto check = [&](const Division& division, const SplitOptions& options) {
    const auto divided = divide(source, division);
    const auto split = split_listing(listing, options);
    const auto& train = dynamic_cast<const FolderSource&>(*divided.train);
    const auto& validation = dynamic_cast<const FolderSource&>(*divided.validation);
    EXPECT_EQ(paths(train.listing()), paths(split.train));
    EXPECT_EQ(paths(validation.listing()), paths(split.validation));
    EXPECT_EQ(train.listing().ignored.size(), 1U) << "what was left out is still known";
    EXPECT_EQ(validation.channels(), 1);
  };
  check(by_fraction(0.2, 3), {.fraction = 0.2, .stratified = true, .seed = 3});
  check({.kind = Division::Kind::kEvery, .every = 6}, {.every = 6});
}

TEST(Division, IsReadBackFromItsText) {
  for (const Division& division :
       {by_fraction(0.1), by_fraction(0.25, 18446744073709551615U), by_folds(5, 4, 3),
        Division{.kind = Division::Kind::kEvery, .every = 6}}) {
    EXPECT_EQ(parse_division(to_text(division), "m.safetensors"), division) << to_text(division);
  }
  EXPECT_EQ(to_text(by_fraction(0.1)), "val-fraction 0.1, split-seed 0");
  for (const char* text : {"", "x", "val-fraction 0.1", "val-fraction 2, split-seed 0",
                           "folds 5, fold 5, split-seed 0", "val-every 6 ", "val-every 1",
                           "val-fraction nan, split-seed 0"}) {
    EXPECT_THROW((void)parse_division(text, "m.safetensors"), Error) << text;
  }
}

TEST(Division, RefusesWhatLeavesAPartEmptyOrIsOutOfRange) {
  const auto few = made_idx(2, 2);
  EXPECT_THAT(message_of([&] { (void)divide(few, by_fraction(0.01)); }),
              HasSubstr("Expected samples for training and for validation, got 4 and 0"));
  EXPECT_THAT(message_of([&] { (void)divide(few, by_fraction(0)); }), HasSubstr("`val_fraction`"));
  EXPECT_THAT(message_of([&] { (void)divide(few, by_folds(1, 0)); }), HasSubstr("`folds`"));
  EXPECT_THAT(message_of([&] { (void)divide(few, by_folds(2, 2)); }), HasSubstr("`fold` 0 to 1"));
  EXPECT_THROW((void)divide(few, by_folds(5, 4)), Error) << "more folds than samples";
}

}  // namespace
}  // namespace stoker
