#include "stoker/data/sources/image_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/data/test_listings.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class ImageList : public testing::Test {
 protected:
  ImageList() { write_files(folder_, {"data/a/1.jpg", "data/a/2.jpg", "data/b/1.jpg"}); }

  fs::path write(const std::string& text, const fs::path& name = "list.txt") const {
    return folder_.write(name, Bytes(text.begin(), text.end()));
  }
  ErrorDetails error_for(const std::string& text) const {
    const fs::path list = write(text);
    return error_of([&] { (void)read_image_list(list); });
  }

  TempFolder folder_;
};

TEST_F(ImageList, PathsClassesCommentsAndLineEnds) {
  const std::string absolute = (folder_.path() / "data/a/2.jpg").string();
  const ImageListing listing = read_image_list(
      write("\xEF\xBB\xBF# made by hand\r\ndata/b/1.jpg\tzebra\r\n\n" + absolute + "\tant"));
  EXPECT_THAT(listing.class_names, ElementsAre("ant", "zebra"));
  EXPECT_THAT(paths_of(listing), ElementsAre("data/b/1.jpg", absolute));
  EXPECT_EQ(listing.images[0].label, 1);
  EXPECT_EQ(listing.images[1].label, 0);
  for (const ListedImage& image : listing.images) {
    EXPECT_EQ(image.bytes, fs::file_size(listing.root / image.path));
    EXPECT_GT(image.modified_ns, 0);
  }
}

TEST_F(ImageList, ATableWithCommasIsRefusedWithTheLineAndTheForm) {
  const ErrorDetails error = error_for("data/a/1.jpg\tdog\ndata/a/2.jpg,dog\n");
  EXPECT_THAT(error.what, HasSubstr("line 2"));
  EXPECT_THAT(error.expected, HasSubstr("img.jpg<tab>dog"));
  EXPECT_THAT(error.found, HasSubstr("data/a/2.jpg,dog"));
  EXPECT_THAT(error_for("path,label\ndata/a/1.jpg,dog\n").what, HasSubstr("line 1"));
  EXPECT_THAT(error_for("data/a/1.jpg\tdog,indoor\n").found, HasSubstr("\"dog,indoor\""));
}

TEST_F(ImageList, CommasInNamesAreKept) {
  write_files(folder_, {"data/a,b.jpg", "data/without,extension"});
  EXPECT_THAT(paths_of(read_image_list(write("data/a,b.jpg\ndata/without,extension\n"))),
              ElementsAre("data/a,b.jpg", "data/without,extension"));
  const ImageListing named =
      read_image_list(write("#classes\ttench, Tinca tinca\tdog\n"
                            "data/a/1.jpg\ttench, Tinca tinca\n"));
  EXPECT_THAT(named.class_names, ElementsAre("tench, Tinca tinca", "dog"));
}

TEST_F(ImageList, WithoutClassesIsForPrediction) {
  const ImageListing listing = read_image_list(write("data/a/1.jpg\ndata/b/1.jpg\n"));
  EXPECT_TRUE(listing.class_names.empty());
  EXPECT_EQ(listing.images[1].label, kNoClass);
}

TEST_F(ImageList, WrittenAndReadAgainIsTheSame) {
  ImageListing listing = list_images(folder_.path() / "data");
  fs::create_directories(folder_.path() / "lists/deep");
  for (const char* name : {"list.txt", "data/list.txt", "lists/deep/list.txt"}) {
    write_image_list(folder_.path() / name, listing);
    const ImageListing again = read_image_list(folder_.path() / name);
    EXPECT_EQ(again.class_names, listing.class_names);
    ASSERT_EQ(again.images.size(), listing.images.size());
    for (std::size_t i = 0; i < again.images.size(); ++i) {
      EXPECT_TRUE(
          fs::equivalent(again.root / again.images[i].path, listing.root / listing.images[i].path));
      EXPECT_FALSE(fs::path(again.images[i].path).is_absolute());
      EXPECT_EQ(again.images[i].label, listing.images[i].label);
      EXPECT_EQ(again.images[i].bytes, listing.images[i].bytes);
    }
  }
}

TEST_F(ImageList, AListBehindALinkedFolderFindsItsImages) {
  fs::create_directories(folder_.path() / "far/away");
  fs::create_directory_symlink("far/away", folder_.path() / "near");
  write_image_list(folder_.path() / "near/list.txt", list_images(folder_.path() / "data"));
  EXPECT_EQ(read_image_list(folder_.path() / "near/list.txt").images.size(), 3U);
  EXPECT_EQ(read_image_list(folder_.path() / "far/away/list.txt").images.size(), 3U);
}

TEST_F(ImageList, AClassWithoutImagesKeepsItsNumber) {
  ImageListing listing = list_images(folder_.path() / "data");
  listing.images.erase(listing.images.begin(), listing.images.begin() + 2);
  write_image_list(folder_.path() / "list.txt", listing);
  const ImageListing again = read_image_list(folder_.path() / "list.txt");
  EXPECT_THAT(again.class_names, ElementsAre("a", "b"));
  EXPECT_EQ(again.images[0].label, 1);
}

TEST_F(ImageList, OddNamesSurviveAndImpossibleOnesAreErrors) {
  write_files(folder_, {"data/a/# 1 .jpg", "data/a/\xFF.jpg", "#c/1.jpg"});
  write_image_list(folder_.path() / "list.txt", list_images(folder_.path() / "data"));
  EXPECT_EQ(read_image_list(folder_.path() / "list.txt").images.size(), 5U);
  fs::remove_all(folder_.path() / "data");
  write_image_list(folder_.path() / "list.txt", list_images(folder_.path()));
  EXPECT_THAT(paths_of(read_image_list(folder_.path() / "list.txt")), ElementsAre("./#c/1.jpg"));
  const Bytes before = contents_of(folder_.path() / "list.txt");
  write_files(folder_, {"#c/tab\t.jpg"});
  const ErrorDetails error =
      error_of([&] { write_image_list(folder_.path() / "list.txt", list_images(folder_.path())); });
  EXPECT_EQ(error.path, "#c/tab?.jpg");
  EXPECT_EQ(contents_of(folder_.path() / "list.txt"), before);
}

TEST_F(ImageList, MistakesAreNamedWithTheLine) {
  EXPECT_THAT(error_for("").found, "none");
  EXPECT_THAT(error_for("# nothing\n").found, "none");
  const ErrorDetails twice = error_for("data/a/1.jpg\ndata/a/2.jpg\ndata/a/1.jpg\n");
  EXPECT_THAT(twice.what, HasSubstr("line 3"));
  EXPECT_THAT(twice.found, HasSubstr("line 1"));
  EXPECT_EQ(twice.offset, 26U);
  EXPECT_THAT(error_for("data/a/1.jpg\ta\ndata/a/2.jpg\n").what, HasSubstr("line 2"));
  EXPECT_THAT(error_for("data/a/1.jpg\n\ndata/a/2.jpg\tb\n").what, HasSubstr("line 3"));
  EXPECT_THAT(error_for("data/a/1.jpg\t\n").expected, HasSubstr("single tab"));
  EXPECT_THAT(error_for("data/a/1.jpg\ta\tb\n").expected, HasSubstr("single tab"));
  EXPECT_THAT(error_for("\tclass\n").expected, HasSubstr("path"));
  EXPECT_THAT(error_for(std::string("\x89PNG\0\0", 6)).found, HasSubstr("zero byte"));
  EXPECT_THAT(error_for(std::string(10'000, 'x')).found, HasSubstr("10000 bytes"));
}

TEST_F(ImageList, LinesOfClassesAreChecked) {
  EXPECT_THAT(error_for("#classes\tant\tbee\ndata/a/1.jpg\tbe\n").hint, HasSubstr("mean bee"));
  EXPECT_THAT(error_for("#classes\ta\ta\ndata/a/1.jpg\ta\n").found, HasSubstr("a twice"));
  EXPECT_THAT(error_for("#classes\ta\t\ndata/a/1.jpg\ta\n").found, HasSubstr("empty"));
  EXPECT_THAT(error_for("#classes\ta\n#classes\tb\ndata/a/1.jpg\ta\n").what, HasSubstr("line 2"));
  EXPECT_THAT(error_for("data/a/1.jpg\ta\n#classes\ta\n").what, HasSubstr("line 2"));
  EXPECT_THAT(error_for("#classes\ta\ndata/a/1.jpg\n").what, HasSubstr("line 2"));
}

TEST_F(ImageList, MissingFilesAreCountedAndTheFirstIsNamed) {
  const ErrorDetails error = error_for("data/a/1.jpg\ndata/a/7.jpg\ndata/a\ndata/b/1.jpg\n");
  EXPECT_EQ(error.found, "2 missing, the first is data/a/7.jpg in line 2");
}

}  // namespace
}  // namespace stoker
