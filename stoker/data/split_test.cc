#include "stoker/data/split.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/data/test_listings.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Images of sizes that differ, so that no file is read and none need be there.
ImageListing made_listing(const std::vector<std::size_t>& counts) {
  ImageListing listing;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    listing.class_names.push_back(fmt::format("c{}", c));
    for (std::size_t i = 0; i < counts[c]; ++i) {
      listing.images.push_back({.path = fmt::format("c{}/p{}_{:03}.jpg", c, i / 5, i),
                                .label = static_cast<std::int32_t>(c),
                                .bytes = listing.images.size()});
    }
  }
  return listing;
}

std::size_t count_of(const ImageListing& listing, std::int32_t label) {
  return static_cast<std::size_t>(std::ranges::count(listing.images, label, &ListedImage::label));
}

// Each image is on exactly one side, in the listing's order.
void expect_whole(const ImageListing& listing, const SplitParts& parts) {
  std::vector<std::string> all = paths_of(parts.train), val = paths_of(parts.validation);
  const auto in_order = [&](const std::vector<std::string>& paths) {
    std::size_t at = 0;
    for (const ListedImage& image : listing.images) {
      if (at < paths.size() && paths[at] == image.path) ++at;
    }
    return at == paths.size();
  };
  EXPECT_TRUE(in_order(all) && in_order(val));
  all.insert(all.end(), val.begin(), val.end());
  EXPECT_EQ(all.size(), listing.images.size());
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  EXPECT_EQ(parts.train.class_names, listing.class_names);
  EXPECT_EQ(parts.validation.class_names, listing.class_names);
}

TEST(Split, EveryKthOfEachClass) {
  const ImageListing listing = made_listing({20, 7, 6});
  const SplitParts parts = split_listing(listing, {});
  expect_whole(listing, parts);
  EXPECT_THAT(paths_of(parts.validation),
              ElementsAre("c0/p0_000.jpg", "c0/p1_006.jpg", "c0/p2_012.jpg", "c0/p3_018.jpg",
                          "c1/p0_000.jpg", "c1/p1_006.jpg", "c2/p0_000.jpg"));
  EXPECT_EQ(parts.moved, 0U);
  EXPECT_EQ(split_listing(listing, {.every = 2}).validation.images.size(), 10U + 4U + 3U);
}

TEST(Split, WithoutClassesAllAreOne) {
  ImageListing listing = made_listing({13});
  listing.class_names.clear();
  for (ListedImage& image : listing.images) image.label = kNoClass;
  EXPECT_EQ(split_listing(listing, {}).validation.images.size(), 3U);
  EXPECT_EQ(split_listing(listing, {.fraction = 0.5, .stratified = true}).train.images.size(), 6U);
}

TEST(Split, FractionIsExactAndFollowsTheSeed) {
  const ImageListing listing = made_listing({100, 37, 3});
  for (const double fraction : {0.01, 0.1, 0.2, 0.5, 0.99}) {
    const SplitParts parts = split_listing(listing, {.fraction = fraction, .seed = 5});
    expect_whole(listing, parts);
    EXPECT_EQ(parts.validation.images.size(), std::lround(fraction * 140));
  }
  const auto chosen = [&](std::uint64_t seed) {
    return paths_of(split_listing(listing, {.fraction = 0.2, .seed = seed}).validation);
  };
  EXPECT_EQ(chosen(1), chosen(1));
  EXPECT_NE(chosen(1), chosen(2));
}

TEST(Split, StratifiedTakesTheShareOfEachClass) {
  const ImageListing listing = made_listing({100, 35, 10, 2});
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const SplitParts parts =
        split_listing(listing, {.fraction = 0.2, .stratified = true, .seed = seed});
    expect_whole(listing, parts);
    EXPECT_EQ(count_of(parts.validation, 0), 20U);
    EXPECT_EQ(count_of(parts.validation, 1), 7U);
    EXPECT_EQ(count_of(parts.validation, 2), 2U);
    EXPECT_EQ(count_of(parts.validation, 3), 0U);
  }
}

TEST(Split, AllImagesAreEquallyLikely) {
  const ImageListing listing = made_listing({10});
  std::map<std::string, int> times;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    for (const auto& path :
         paths_of(split_listing(listing, {.fraction = 0.3, .seed = seed}).validation)) {
      ++times[path];
    }
  }
  ASSERT_EQ(times.size(), 10U);
  for (const auto& [path, count] : times)
    EXPECT_NEAR(count, 600, 110) << path;  // over 5 deviations
}

// The group's side, by its name; fails where it is on both.
std::map<std::string, bool> sides_of_groups(const SplitParts& parts, std::size_t begin,
                                            std::size_t length) {
  std::map<std::string, bool> sides;
  for (const bool validation : {false, true}) {
    for (const auto& path : paths_of(validation ? parts.validation : parts.train)) {
      const auto [known, is_new] = sides.emplace(path.substr(begin, length), validation);
      EXPECT_EQ(known->second, validation) << path;
    }
  }
  return sides;
}

TEST(Split, AGroupNeverSpansBothSides) {
  const ImageListing listing = made_listing({40, 30});  // p0 … p7 and p0 … p5, across classes
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const bool stratified : {false, true}) {
      const SplitParts parts = split_listing(
          listing,
          {.fraction = 0.3, .stratified = stratified, .group = "/(p[0-9])_", .seed = seed});
      expect_whole(listing, parts);
      EXPECT_EQ(sides_of_groups(parts, 3, 2).size(), 8U);
      EXPECT_NEAR(static_cast<double>(parts.validation.images.size()), 21, 5);
      EXPECT_EQ(parts.ungrouped, 0U);
    }
  }
}

TEST(Split, EveryCountsGroups) {
  const ImageListing listing = made_listing({40});
  const SplitParts parts = split_listing(listing, {.every = 3, .group = "(p[0-9])_"});
  std::vector<std::string> groups;
  for (const auto& [name, validation] : sides_of_groups(parts, 3, 2)) {
    if (validation) groups.push_back(name);
  }
  EXPECT_THAT(groups, ElementsAre("p0", "p3", "p6"));
}

TEST(Split, ImagesWithoutAGroupStandAlone) {
  const ImageListing listing = made_listing({20});
  const SplitParts parts = split_listing(listing, {.fraction = 0.5, .group = "(p0)_"});
  expect_whole(listing, parts);
  EXPECT_EQ(parts.ungrouped, 15U);
  EXPECT_EQ(parts.validation.images.size(), 10U);
}

TEST(Split, ExactDuplicatesStayTogether) {
  const TempFolder folder;
  for (int i = 0; i < 24; ++i) {
    // The images 5 and 6 are equal, and 12 of one class is 3 of the other.
    const int a = i == 6 ? 5 : i, b = i == 3 ? 12 : 100 + i;
    folder.write(fmt::format("a/{:02}.jpg", i), Bytes(50, static_cast<std::uint8_t>(a)));
    folder.write(fmt::format("b/{:02}.jpg", i), Bytes(50, static_cast<std::uint8_t>(b)));
  }
  const ImageListing listing = list_images(folder.path());
  const auto side = [](const SplitParts& parts, const std::string& path) {
    const auto paths = paths_of(parts.validation);
    return std::ranges::find(paths, path) != paths.end();
  };
  const SplitParts every = split_listing(listing, {});
  expect_whole(listing, every);
  EXPECT_THAT(paths_of(every.validation),
              ElementsAre("a/00.jpg", "a/12.jpg", "a/18.jpg", "b/00.jpg", "b/03.jpg", "b/06.jpg",
                          "b/12.jpg", "b/18.jpg"));
  EXPECT_EQ(every.moved, 2U);
  int together_in_validation = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const SplitParts parts = split_listing(listing, {.fraction = 0.3, .seed = seed});
    EXPECT_EQ(parts.validation.images.size(), 14U);
    EXPECT_EQ(side(parts, "a/05.jpg"), side(parts, "a/06.jpg"));
    EXPECT_EQ(side(parts, "a/12.jpg"), side(parts, "b/03.jpg"));
    together_in_validation += side(parts, "a/05.jpg") ? 1 : 0;
  }
  EXPECT_GT(together_in_validation, 3);
  EXPECT_LT(together_in_validation, 30);
}

// Chains: group p0 and p1 share an image, p1 and p2 another.
TEST(Split, GroupsTiedByDuplicatesAreOne) {
  const TempFolder folder;
  for (int group = 0; group < 6; ++group) {
    for (int i = 0; i < 2; ++i) {
      const int content = group < 3 && i == 0 && group > 0 ? 10 * (group - 1) + 1 : 10 * group + i;
      folder.write(fmt::format("a/p{}_{}.jpg", group, i),
                   Bytes(9, static_cast<std::uint8_t>(content)));
    }
  }
  const ImageListing listing = list_images(folder.path());
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const SplitParts parts =
        split_listing(listing, {.fraction = 0.5, .group = "(p[0-9])_", .seed = seed});
    const auto sides = sides_of_groups(parts, 2, 2);
    EXPECT_EQ(sides.at("p0"), sides.at("p1"));
    EXPECT_EQ(sides.at("p1"), sides.at("p2"));
    expect_whole(listing, parts);
    EXPECT_NEAR(static_cast<double>(parts.validation.images.size()), 6, 2);
  }
}

// Backtracking would take longer than anybody waits.
TEST(Split, AnExpressionTakesNoLongerForALongPath) {
  ImageListing listing = made_listing({10, 10});
  listing.images[0].path = std::string(4000, 'a');
  const ErrorDetails error =
      error_of([&] { (void)split_listing(listing, {.group = "((a*)*)*z"}); });
  EXPECT_THAT(error.what, HasSubstr("matches no image"));
}

TEST(Split, WrongOptionsAreErrors) {
  const ImageListing listing = made_listing({10, 10});
  const auto error = [&](const SplitOptions& options) {
    return error_of([&] { (void)split_listing(listing, options); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double fraction : {0.0, 1.0, -0.5, 20.0, nan}) {
    EXPECT_THAT(error({.fraction = fraction}).expected, HasSubstr("between 0 and 1"));
  }
  EXPECT_THAT(error({.every = 1}).found, "1");
  EXPECT_THAT(error({.every = 0}).found, "0");
  EXPECT_THAT(error({.group = "p[0-9]"}).expected, "parentheses");
  EXPECT_THAT(error({.group = "(p["}).expected, HasSubstr("regular expression"));
  for (const char* unsupported : {"(p[0-9])(?=_)", "(p)\\1", "(?<!x)(p)"}) {
    const ErrorDetails refused = error({.group = unsupported});
    EXPECT_THAT(refused.found, HasSubstr(unsupported));
    EXPECT_THAT(refused.hint, HasSubstr("back-references"));
  }
  EXPECT_THAT(error({.group = "(patient)"}).what, HasSubstr("matches no image"));
  EXPECT_THAT(error({.group = "(jpg)"}).what, HasSubstr("empty"));
  EXPECT_THAT(error({.fraction = 0.001}).what, HasSubstr("empty"));
}

}  // namespace
}  // namespace stoker
