#include "stoker/data/sources/ignored_files.h"

#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "stoker/data/detail/unknown_file.h"
#include "stoker/data/sources/folder_source.h"
#include "stoker/data/sources/listing_cache.h"
#include "stoker/data/sources/subset.h"
#include "stoker/data/split.h"
#include "stoker/data/test_listings.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

IgnoredFiles ignored_in(const TempFolder& folder) {
  return ignored_files_of(FolderSource(list_images(folder.path())));
}

TEST(IgnoredFilesTest, AreCountedByKindImagesFirst) {
  TempFolder folder;
  write_files(folder, {"a/1.png", "a/2.GIF", "a/3.gif", "a/4.heic", "a/Thumbs.db", "a/notes.txt",
                       "a/more.txt", "b/1.png", "b/.hidden.png", "b/LICENSE"});
  const IgnoredFiles ignored = ignored_in(folder);
  EXPECT_EQ(ignored.paths, 8U);
  EXPECT_EQ(ignored.images, 3U);
  EXPECT_THAT(ignored.kinds,
              ElementsAre(Pair("unsupported image (.gif)", 2), Pair("unsupported image (.heic)", 1),
                          Pair("not an image (.txt)", 2), Pair("hidden", 1),
                          Pair("junk (Thumbs.db)", 1), Pair("not an image (no extension)", 1)));
  EXPECT_EQ(to_text(ignored),
            "8 files: 2 unsupported image (.gif), 1 unsupported image (.heic), 2 not an image "
            "(.txt), 1 hidden, 1 junk (Thumbs.db), 1 not an image (no extension)");
}

TEST(IgnoredFilesTest, ThatAreImagesAreRefusedWithTheOptionThatAcceptsThem) {
  TempFolder folder;
  write_files(folder, {"a/1.png", "a/2.gif"});
  const std::string message =
      message_of([&] { refuse_ignored_images(ignored_in(folder), "skip_unknown"); });
  EXPECT_THAT(message, HasSubstr("1 file of the data look"));
  EXPECT_THAT(message, HasSubstr("a/2.gif"));
  EXPECT_THAT(message, HasSubstr("`skip_unknown`"));
  fs::remove(folder.path() / "a/2.gif");
  write_files(folder, {"a/notes.md"});
  EXPECT_NO_THROW(refuse_ignored_images(ignored_in(folder), "skip_unknown"));
}

TEST(IgnoredFilesTest, AreKnownBehindViewsSplitsAndTheCache) {
  TempFolder folder, cache;
  write_files(folder, {"a/1.png", "a/2.png", "a/3.png", "a/4.gif", "b/1.png", "b/2.png"});
  SplitParts split = split_listing(list_images(folder.path()), {.every = 2});
  EXPECT_EQ(ignored_files_of(FolderSource(split.train)).images, 1U);
  const auto whole = std::make_shared<FolderSource>(list_images(folder.path()));
  EXPECT_EQ(ignored_files_of(Subset(whole, 2, 0)).images, 1U);
  const auto later = std::chrono::system_clock::now() + std::chrono::seconds(10);
  for (int i = 0; i < 2; ++i) {
    const ImageListing kept = list_images_cached(folder.path(), cache.path(), later);
    EXPECT_EQ(ignored_files_of(FolderSource(kept)).images, 1U);
  }
}

TEST(UnknownFiles, AreKnownByTheirFirstBytes) {
  TempFolder folder;
  using namespace std::string_view_literals;
  folder.write("a/1.png", bytes_of("x"));
  folder.write("a/jpeg", bytes_of("\xFF\xD8\xFF\xE0 and more"sv));
  folder.write("a/scan.dat", bytes_of("II*\0 and more"sv));
  folder.write("a/photo.xyz", bytes_of("\0\0\0\x1C"
                                       "ftypavif and more"sv));
  folder.write("a/old.pic", bytes_of("BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x02\0\0\0"sv));
  folder.write("a/text", bytes_of("BMW and other makers of cars"sv));
  folder.write("a/note.txt", bytes_of("II*\0 is how a TIFF begins"sv));  // its name says enough
  folder.write("a/empty", {});
  EXPECT_THAT(ignored_of(list_images(folder.path())),
              ElementsAre("a/empty: not an image (no extension)",
                          "a/jpeg: image without its extension (a JPEG image, no extension)",
                          "a/note.txt: not an image (.txt)",
                          "a/old.pic: image without its extension (a BMP image, .pic)",
                          "a/photo.xyz: image without its extension (an AVIF image, .xyz)",
                          "a/scan.dat: image without its extension (a TIFF image, .dat)",
                          "a/text: not an image (no extension)"));
}

// A folder with a million files of a kind that nobody knows must not be read through.
TEST(UnknownFiles, AreOpenedAFewTimesForEachExtension) {
  TempFolder folder;
  folder.write("a/1.png", bytes_of("x"));
  for (int i = 0; i < 300; ++i) folder.write(fmt::format("a/{:03}.label", i), bytes_of("7"));
  const int descriptor = ::open((folder.path() / "a").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_GE(descriptor, 0);
  detail::UnknownFiles files;
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(files.reason(descriptor, fmt::format("{:03}.label", i).c_str()),
              "not an image (.label)");
  }
  folder.write("a/999.label", bytes_of("\xFF\xD8\xFF\xE0"));
  EXPECT_EQ(files.reason(descriptor, "999.label"), "not an image (.label)");
  folder.write("a/999.other", bytes_of("\xFF\xD8\xFF\xE0"));
  EXPECT_TRUE(is_image_reason(files.reason(descriptor, "999.other")));
  ::close(descriptor);
}

}  // namespace
}  // namespace stoker
