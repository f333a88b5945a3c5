// A pipe in the place of a file that a user named or that was listed a moment ago: an error at
// once. A reader that opened it without care would wait for a writer for ever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "stoker/core/test_files.h"
#include "stoker/data/data_identity.h"
#include "stoker/data/sources/exact_duplicates.h"
#include "stoker/data/sources/folder_source.h"
#include "stoker/data/sources/idx.h"
#include "stoker/data/sources/image_list.h"
#include "stoker/data/sources/image_table.h"
#include "stoker/store/local_store.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class PipeInPlace : public testing::Test {
 protected:
  [[nodiscard]] fs::path pipe(const std::string& name) const {
    const fs::path path = folder_.path() / name;
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    return path;
  }
  TempFolder folder_;
};

TEST_F(PipeInPlace, OfAListedImageIsAnErrorOfItsSample) {
  folder_.write("data/a/1.png", Bytes(100));
  folder_.write("data/a/2.png", Bytes(100));
  const ImageListing listing = list_images(folder_.path() / "data");
  fs::remove(folder_.path() / "data/a/1.png");
  const fs::path path = pipe("data/a/1.png");
  const FolderSource source(listing);
  SampleBuffer buffer;
  auto sample = source.read(0, buffer);
  ASSERT_FALSE(sample);
  EXPECT_EQ(sample.error().path, path.string());
  EXPECT_EQ(sample.error().found, "a pipe");
  EXPECT_EQ(error_of([&] { (void)find_exact_duplicates(listing); }).found, "a pipe");
  const auto shared = std::make_shared<const FolderSource>(listing);
  const DataPart part{.name = "training", .source = shared};
  EXPECT_FALSE(identity_of(std::span(&part, 1)).digest().empty());
}

TEST_F(PipeInPlace, OfAListTableOrArrayIsAnErrorWithItsName) {
  const fs::path list = pipe("list.txt"), table = pipe("table.csv"), array = pipe("images");
  EXPECT_EQ(error_of([&] { (void)read_image_list(list); }).path, list.string());
  EXPECT_EQ(error_of([&] { (void)read_image_table(table, Split::kTrain, {}); }).path,
            table.string());
  EXPECT_EQ(error_of([&] { (void)read_idx(array); }).path, array.string());
  EXPECT_EQ(error_of([&] { (void)open_idx(array, array); }).found, "a pipe");
}

TEST_F(PipeInPlace, OfAnObjectIsAnError) {
  static_cast<void>(pipe("object"));
  const LocalStore store(folder_.path());
  EXPECT_THAT(message_of([&] { store.read({.name = "object"}, [](auto) {}); }),
              HasSubstr("a pipe"));
}

}  // namespace
}  // namespace stoker
