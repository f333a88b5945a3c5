#include "stoker/data/sources/exact_duplicates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/data/test_listings.h"

namespace stoker {
namespace {

using testing::ElementsAre;

TEST(ExactDuplicates, AreFoundAcrossClassesInTheListingsOrder) {
  const TempFolder folder;
  folder.write("a/0.jpg", Bytes(100'000, 1));
  folder.write("a/1.jpg", Bytes(70, 2));
  folder.write("a/2.jpg", Bytes(100'000, 1));
  folder.write("b/0.jpg", Bytes(70, 2));
  folder.write("b/1.jpg", Bytes(71, 2));
  folder.write("b/2.jpg", Bytes(100'000, 1));
  EXPECT_THAT(find_exact_duplicates(list_images(folder.path())),
              ElementsAre(ElementsAre(0, 2, 5), ElementsAre(1, 3)));
}

TEST(ExactDuplicates, OneDifferentByteAnywhereIsADifference) {
  const TempFolder folder;
  const Bytes bytes(200'000, 9);
  folder.write("a/0.jpg", bytes);
  for (const std::size_t place : {0U, 99'999U, 100'000U, 150'000U, 199'999U}) {
    Bytes other = bytes;
    other[place] = 8;
    folder.write("a/1.jpg", other);
    EXPECT_TRUE(find_exact_duplicates(list_images(folder.path())).empty()) << place;
  }
}

TEST(ExactDuplicates, EmptyFilesAreAlike) {
  const TempFolder folder;
  folder.write("a/0.jpg", {});
  folder.write("a/1.jpg", {});
  EXPECT_THAT(find_exact_duplicates(list_images(folder.path())), ElementsAre(ElementsAre(0, 1)));
}

TEST(ExactDuplicates, AFileThatIsGoneIsNamed) {
  const TempFolder folder;
  folder.write("a/0.jpg", {1});
  folder.write("a/1.jpg", {2});
  const ImageListing listing = list_images(folder.path());
  std::filesystem::remove(folder.path() / "a/1.jpg");
  const ErrorDetails error = error_of([&] { (void)find_exact_duplicates(listing); });
  EXPECT_EQ(error.path, (folder.path() / "a/1.jpg").string());
}

}  // namespace
}  // namespace stoker
