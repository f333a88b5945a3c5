#include "stoker/data/sources/image_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stoker/core/test_files.h"
#include "stoker/data/sources/folder_source.h"
#include "stoker/data/test_listings.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(ImageFolder, ClassesAreTheFirstFoldersSortedByCodePoint) {
  const TempFolder folder;
  write_files(folder, {"b/1.jpg", "10/1.jpg", "2/1.jpg", "B/1.jpg", "ä/1.jpg", "a b/1.jpg"});
  const ImageListing listing = list_images(folder.path());
  EXPECT_THAT(listing.class_names, ElementsAre("10", "2", "B", "a b", "b", "ä"));
  EXPECT_THAT(paths_of(listing),
              ElementsAre("10/1.jpg", "2/1.jpg", "B/1.jpg", "a b/1.jpg", "b/1.jpg", "ä/1.jpg"));
  for (std::int32_t i = 0; i < 6; ++i) {
    EXPECT_EQ(listing.images[static_cast<std::size_t>(i)].label, i);
  }
  EXPECT_TRUE(listing.ignored.empty());
  EXPECT_EQ(listing.root, folder.path());
}

// sorted(os.walk(…)) compares whole paths of folders: the class's own images first, and "s-t"
// before "s/u", because '-' comes before '/'.
TEST(ImageFolder, ImagesComeInTorchvisionsOrder) {
  const TempFolder folder;
  write_files(folder, {"c/z.jpg", "c/s/u/1.jpg", "c/s-t/1.jpg", "c/s/9.jpg", "c/a/1.jpg", "c/B.jpg",
                       "c/10.jpg", "c/9.jpg"});
  EXPECT_THAT(paths_of(list_images(folder.path())),
              ElementsAre("c/10.jpg", "c/9.jpg", "c/B.jpg", "c/z.jpg", "c/a/1.jpg", "c/s/9.jpg",
                          "c/s-t/1.jpg", "c/s/u/1.jpg"));
}

TEST(ImageFolder, SizesAndTimesAreTheFiles) {
  const TempFolder folder;
  folder.write("a/1.png", Bytes(321));
  struct stat status {};
  ASSERT_EQ(::stat((folder.path() / "a/1.png").c_str(), &status), 0);
  const ImageListing listing = list_images(folder.path());
  ASSERT_EQ(listing.images.size(), 1U);
  EXPECT_EQ(listing.images[0].bytes, 321U);
  EXPECT_EQ(listing.images[0].modified_ns,
            status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec);
}

TEST(ImageFolder, ExtensionsInAnyCaseAndNoOthers) {
  for (const char* name : {"a.jpg", "a.JPG", "a.Jpeg", "a.png", "a.webp", "x.tar.jpg", ".jpg",
                           "a.tif", "a.TIFF", "a.bmp", "a.pbm", "a.pgm", "a.ppm", "a.pnm"}) {
    EXPECT_TRUE(has_image_extension(name)) << name;
  }
  for (const char* name :
       {"a.gif", "a.pam", "a.heic", "jpg", "a.jpg.txt", "a.jpgx", "a.", "", "a.jp"}) {
    EXPECT_FALSE(has_image_extension(name)) << name;
  }
}

TEST(ImageFolder, HiddenJunkAndOtherFilesAreListedWithTheReason) {
  const TempFolder folder;
  write_files(folder, {"a/1.jpg", "a/.2.jpg", "a/Thumbs.db", "a/notes.txt", "a/LICENSE", "a/3.GIF",
                       ".ipynb_checkpoints/1-checkpoint.jpg", "__MACOSX/a/1.jpg", "@eaDir/1.jpg",
                       "lost+found/1.jpg", "loose.jpg", "a/desktop.ini"});
  fs::create_directories(folder.path() / "a" / "nothing");
  const ImageListing listing = list_images(folder.path());
  EXPECT_THAT(listing.class_names, ElementsAre("a"));
  EXPECT_THAT(paths_of(listing), ElementsAre("a/1.jpg"));
  EXPECT_THAT(
      ignored_of(listing),
      ElementsAre(".ipynb_checkpoints: hidden", "@eaDir: junk (@eaDir)",
                  "__MACOSX: junk (__MACOSX)", "a/.2.jpg: hidden",
                  "a/3.GIF: unsupported image (.gif)", "a/LICENSE: not an image (no extension)",
                  "a/Thumbs.db: junk (Thumbs.db)", "a/desktop.ini: junk (desktop.ini)",
                  "a/notes.txt: not an image (.txt)", "a/nothing: empty folder",
                  "loose.jpg: not in a class folder", "lost+found: junk (lost+found)"));
}

TEST(ImageFolder, OnlyImagesAreAListingWithoutClasses) {
  const TempFolder folder;
  write_files(folder, {"2.jpg", "1.jpg", "notes.txt", "docs/notes.txt"});
  const ImageListing listing = list_images(folder.path());
  EXPECT_TRUE(listing.class_names.empty());
  EXPECT_THAT(paths_of(listing), ElementsAre("1.jpg", "2.jpg"));
  EXPECT_EQ(listing.images[0].label, kNoClass);
  EXPECT_THAT(ignored_of(listing),
              ElementsAre("docs: folder without images", "docs/notes.txt: not an image (.txt)",
                          "notes.txt: not an image (.txt)"));
}

TEST(ImageFolder, AClassWithoutImagesIsNamed) {
  const TempFolder folder;
  write_files(folder, {"a/1.jpg", "b/1.gif", "d/1.jpg"});
  fs::create_directories(folder.path() / "c");
  const ErrorDetails error = error_of([&] { (void)list_images(folder.path()); });
  EXPECT_EQ(error.path, (folder.path() / "b").string());
  EXPECT_THAT(error.found, HasSubstr("b, c"));
  EXPECT_FALSE(error.hint.empty());
}

TEST(ImageFolder, NoImagesNoFolderNoPermissionAreErrors) {
  const TempFolder folder;
  EXPECT_THAT(error_of([&] { (void)list_images(folder.path()); }).found, HasSubstr("empty folder"));
  folder.write("a/1.txt", {1});
  EXPECT_THAT(error_of([&] { (void)list_images(folder.path()); }).what, HasSubstr("no images"));
  EXPECT_THAT(error_of([&] { (void)list_images(folder.path() / "b"); }).found,
              HasSubstr("No such file"));
  EXPECT_THAT(error_of([&] { (void)list_images(folder.path() / "a/1.txt"); }).found,
              HasSubstr("Not a directory"));
  if (::geteuid() == 0) return;  // who may read everything
  folder.write("b/1.jpg", {1});
  fs::permissions(folder.path() / "a", fs::perms::none);
  EXPECT_EQ(error_of([&] { (void)list_images(folder.path()); }).path,
            (folder.path() / "a").string());
  fs::permissions(folder.path() / "a", fs::perms::owner_all);
}

TEST(ImageFolder, LinksAreFollowedAndBrokenOnesListed) {
  const TempFolder folder;
  write_files(folder, {"data/a/1.jpg", "elsewhere/x/2.jpg", "3.png"});
  fs::create_symlink("../elsewhere", folder.path() / "data/b");
  fs::create_symlink("../../3.png", folder.path() / "data/a/3.png");
  fs::create_symlink("nowhere.png", folder.path() / "data/a/4.png");
  ASSERT_EQ(::mkfifo((folder.path() / "data/a/5.png").c_str(), 0600), 0);
  const ImageListing listing = list_images(folder.path() / "data");
  EXPECT_THAT(paths_of(listing), ElementsAre("a/1.jpg", "a/3.png", "b/x/2.jpg"));
  EXPECT_EQ(listing.images[1].bytes, fs::file_size(folder.path() / "3.png"));
  EXPECT_THAT(ignored_of(listing), ElementsAre("a/4.png: broken link",
                                               "a/5.png: not a file (a pipe, socket or device)"));
}

TEST(ImageFolder, LoopsOfLinksEnd) {
  const TempFolder folder;
  write_files(folder, {"a/1.jpg", "b/2.jpg"});
  fs::create_directory_symlink("..", folder.path() / "a/up");
  fs::create_directory_symlink(".", folder.path() / "a/self");
  fs::create_directory_symlink("../b", folder.path() / "a/other");
  fs::create_directory_symlink("../a", folder.path() / "b/back");
  const ImageListing listing = list_images(folder.path());
  EXPECT_THAT(paths_of(listing),
              ElementsAre("a/1.jpg", "a/other/2.jpg", "b/2.jpg", "b/back/1.jpg"));
  EXPECT_THAT(ignored_of(listing), testing::Contains("a/up: link to a folder above it"));
}

// 2^30 ways through thirty folders, and no ring.
TEST(ImageFolder, AWebOfLinksIsAnErrorNotAHang) {
  const TempFolder folder;
  for (int i = 0; i < 30; ++i) {
    const fs::path here = folder.path() / "web" / std::to_string(i);
    fs::create_directories(here);
    for (const char* name : {"x", "y"}) {
      fs::create_directory_symlink("../" + std::to_string(i + 1), here / name);
    }
  }
  folder.write("web/30/1.jpg", {1});
  fs::create_directories(folder.path() / "data");
  fs::create_directory_symlink("../web/0", folder.path() / "data/a");
  EXPECT_THAT(error_of([&] { (void)list_images(folder.path() / "data"); }).what,
              HasSubstr("again and again"));
}

TEST(ImageFolder, NamesNeedNotBeUtf8) {
  const TempFolder folder;
  write_files(folder, {"caf\xE9/\xFF\xFE.jpg", "caf\xE9/new\nline.jpg", "a/1.jpg"});
  const ImageListing listing = list_images(folder.path());
  EXPECT_THAT(paths_of(listing),
              ElementsAre("a/1.jpg", "caf\xE9/new\nline.jpg", "caf\xE9/\xFF\xFE.jpg"));
}

TEST(ImageFolder, PartsAreFoundByName) {
  const TempFolder folder;
  const fs::path root = folder.path();
  EXPECT_EQ(find_parts(root).train, root);
  write_files(folder, {"train/a/1.jpg"});
  EXPECT_EQ(find_parts(root).train, root / "train");
  EXPECT_TRUE(find_parts(root).validation.empty());
  write_files(folder, {"Valid/a/1.jpg", "test/1.jpg"});
  const DatasetFolders parts = find_parts(root);
  EXPECT_EQ(parts.validation, root / "Valid");
  EXPECT_EQ(parts.test, root / "test");
  write_files(folder, {"val/a/1.jpg"});
  EXPECT_THAT(error_of([&] { (void)find_parts(root); }).found, HasSubstr("Valid and val"));
}

TEST(ImageFolder, TrainsAreAClassBesideCars) {
  const TempFolder folder;
  write_files(folder, {"train/1.jpg", "car/1.jpg", "ship/1.jpg"});
  EXPECT_EQ(find_parts(folder.path()).train, folder.path());
}

TEST(ImageFolder, RealPlates) {
  const fs::path plates = test_data() / "plates";
  STOKER_NEEDS(plates);
  const DatasetFolders parts = find_parts(plates);
  EXPECT_EQ(parts.train, plates / "train");
  const ImageListing train = list_images(parts.train);
  EXPECT_THAT(train.class_names, ElementsAre("cleaned", "dirty"));
  EXPECT_EQ(train.images.size(), 40U);
  const ImageListing test = list_images(parts.test);
  EXPECT_TRUE(test.class_names.empty());
  EXPECT_EQ(test.images.size(), 744U);
}

TEST(ImageFolder, AFileOfMoreThanAGigabyteIsRefusedBeforeMemoryIsTaken) {
  const TempFolder folder;
  fs::resize_file(folder.write("a/1.png", {}), (std::uint64_t{1} << 30) + 1);  // a hole: no space
  const FolderSource source(list_images(folder.path()));
  SampleBuffer buffer;
  const auto sample = source.read(0, buffer);
  ASSERT_FALSE(sample);
  EXPECT_EQ(sample.error().path, (folder.path() / "a/1.png").string());
  EXPECT_THAT(sample.error().found, HasSubstr("more than a gigabyte"));
  EXPECT_TRUE(buffer.file.empty());
}

TEST(ImageFolder, HasNoSizeWithoutAPolicyThatSetsIt) {
  const TempFolder folder;
  write_files(folder, {"a/1.png"});
  const ErrorDetails error =
      error_of([&] { (void)FolderSource(list_images(folder.path())).shape(); });
  EXPECT_EQ(error.path, folder.path().string());
  EXPECT_THAT(error.what, HasSubstr("may differ in size"));
  EXPECT_THAT(error.hint, HasSubstr("`aa`"));
}

}  // namespace
}  // namespace stoker
