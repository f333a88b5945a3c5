#include "stoker/data/data_identity.h"

#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "stoker/data/catalog.h"
#include "stoker/data/identity_difference.h"
#include "stoker/data/identity_file.h"
#include "stoker/data/sources/idx.h"
#include "stoker/data/sources/subset.h"
#include "stoker/data/split.h"
#include "stoker/data/test_files.h"
#include "stoker/data/test_listings.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const IdentitySides kSides{.here = "here", .there = "in the run's data"};

std::shared_ptr<const Source> folder_source(const fs::path& folder) {
  return std::make_shared<FolderSource>(list_images(folder));
}

DataIdentity identity(const std::shared_ptr<const Source>& source, bool content = true) {
  const DataPart parts[] = {{"training", source}};
  return identity_of(parts, content, {});
}

class Identity : public testing::Test {
 protected:
  Identity() { write_files(folder_, {"cat/1.png", "cat/2.png", "dog/1.png", "dog/3.png"}); }

  [[nodiscard]] DataIdentity now(bool content = true) const {
    return identity(folder_source(folder_.path()), content);
  }
  // What has changed since.
  [[nodiscard]] std::string since(const DataIdentity& before, bool content = true) const {
    return first_difference(now(content).text(), before.text(), kSides);
  }

  TempFolder folder_;
};

TEST_F(Identity, IsTheSameForTheSameFilesElsewhere) {
  TempFolder other;
  fs::copy(folder_.path(), other.path(), fs::copy_options::recursive);
  const DataIdentity copy = identity(folder_source(other.path()));
  EXPECT_EQ(copy.text(), now().text());
  EXPECT_EQ(copy.digest(), now().digest());
  EXPECT_EQ(first_difference(copy.text(), now().text(), kSides), "");
}

TEST_F(Identity, NamesAnImageThatWasAddedOrRemoved) {
  const DataIdentity before = now();
  write_files(folder_, {"dog/2.png"});
  EXPECT_EQ(since(before), "dog/2.png is here and not in the run's data");
  fs::remove(folder_.path() / "dog/2.png");
  fs::remove(folder_.path() / "cat/2.png");
  EXPECT_EQ(since(before), "cat/2.png is in the run's data and not here");
}

TEST_F(Identity, NamesTheFirstOfManyThatWereAdded) {
  const DataIdentity before = now();
  for (int i = 0; i < 31; ++i) write_files(folder_, {fmt::format("dog/0{:02}.png", i)});
  EXPECT_EQ(since(before), "dog/000.png is here and not in the run's data");
}

TEST_F(Identity, SeesOtherSizesAndOtherContents) {
  const DataIdentity before = now(), listing = now(false);
  folder_.write("dog/3.png", Bytes(1024));
  EXPECT_EQ(since(before), "dog/3.png has 1,024 bytes here and 9 in the run's data");
  EXPECT_EQ(since(listing, false), "dog/3.png has 1,024 bytes here and 9 in the run's data");
  folder_.write("dog/3.png", Bytes(9));
  EXPECT_EQ(since(before), "dog/3.png has other content here than in the run's data");
  EXPECT_EQ(since(listing, false), "");  // that is the price
}

TEST_F(Identity, SeesTheSameSizeAndTime) {
  const DataIdentity before = now();
  const fs::path image = folder_.path() / "dog/3.png";
  const auto time = fs::last_write_time(image);
  folder_.write("dog/3.png", Bytes(9, 'x'));
  fs::last_write_time(image, time);
  EXPECT_EQ(since(before), "dog/3.png has other content here than in the run's data");
}

TEST_F(Identity, NamesARenamedAnAddedAndAMissingClass) {
  const DataIdentity before = now();
  fs::rename(folder_.path() / "dog", folder_.path() / "hound");
  EXPECT_EQ(since(before), "class 1 is 'hound' here and 'dog' in the run's data");
  fs::rename(folder_.path() / "hound", folder_.path() / "dog");
  write_files(folder_, {"eel/1.png"});
  EXPECT_EQ(since(before), "class 2 ('eel') is here and not in the run's data");
  EXPECT_EQ(first_difference(before.text(), now().text(), kSides),
            "class 2 ('eel') is in the run's data and not here");
}

TEST_F(Identity, OfAListSeesLabelsAndOrder) {
  const auto listed = [&](const std::string& lines) {
    const std::string text = "#classes\tcat\tdog\n" + lines;
    folder_.write("list.txt", Bytes(text.begin(), text.end()));
    return identity(open_data((folder_.path() / "list.txt").string(), Split::kTrain));
  };
  const DataIdentity before = listed("cat/1.png\tcat\ndog/1.png\tdog\n");
  EXPECT_EQ(
      first_difference(listed("cat/1.png\tdog\ndog/1.png\tdog\n").text(), before.text(), kSides),
      "cat/1.png is of class 'dog' here and of class 'cat' in the run's data");
  EXPECT_EQ(
      first_difference(listed("dog/1.png\tdog\ncat/1.png\tcat\n").text(), before.text(), kSides),
      "dog/1.png is here where cat/1.png is in the run's data");
}

// An image that was trained on validates from then on: the added one is what the reader must know.
TEST_F(Identity, OfADividedFolderNamesTheAddedImageThenTheMovedOne) {
  const auto divided = [&] {
    SplitParts split = split_listing(list_images(folder_.path()), {.every = 2});
    const DataPart parts[] = {{"training", std::make_shared<FolderSource>(split.train)},
                              {"validation", std::make_shared<FolderSource>(split.validation)}};
    return identity_of(parts, true, {});
  };
  const DataIdentity before = divided();
  write_files(folder_, {"cat/0.png"});
  EXPECT_EQ(first_difference(divided().text(), before.text(), kSides),
            "cat/0.png is here and not in the run's data");
  const std::string swapped =
      "part\ttraining\nimage\ta\t1\t0\t-\npart\tvalidation\nimage\tb\t1\t0\t-\n";
  const std::string other =
      "part\ttraining\nimage\tb\t1\t0\t-\npart\tvalidation\nimage\ta\t1\t0\t-\n";
  EXPECT_EQ(first_difference(swapped, other, kSides),
            "a is in the training data here and in the validation data in the run's data");
}

TEST_F(Identity, TellsPartsApart) {
  TempFolder folder;
  write_files(folder, {"train/cat/1.png", "train/dog/3.png", "val/cat/1.png", "val/dog/3.png"});
  write_files(folder, {"val/dog/1.png"});
  const auto both = [&] {
    const DataPart parts[] = {{"training", folder_source(folder.path() / "train")},
                              {"validation", folder_source(folder.path() / "val/")}};
    return identity_of(parts, true, {}).text();
  };
  const std::string before = both();
  fs::remove(folder.path() / "val/dog/3.png");
  EXPECT_EQ(first_difference(both(), before, kSides),
            "val/dog/3.png is in the run's data and not here");
}

TEST_F(Identity, DecidesByTheBytesWhetherContentsAreRead) {
  const DataPart parts[] = {{"training", folder_source(folder_.path())}};
  EXPECT_TRUE(content_is_cheap(parts, {.content_bytes = 36}));
  EXPECT_FALSE(content_is_cheap(parts, {.content_bytes = 35}));
  EXPECT_THAT(now(false).text(), HasSubstr("image\tdog/3.png\t9\t1\t-\n"));
}

TEST_F(Identity, WithAndWithoutContentsDiffersInNothing) {
  EXPECT_NE(now(false).text(), now().text());
  EXPECT_EQ(since(now(false)), "");
}

TEST_F(Identity, NamesWhatCannotBeRead) {
  const DataIdentity before = now();
  const auto source = folder_source(folder_.path());
  fs::remove(folder_.path() / "cat/1.png");
  ASSERT_EQ(::mkfifo((folder_.path() / "cat/1.png").c_str(), 0600), 0);  // must not block either
  EXPECT_EQ(first_difference(identity(source).text(), before.text(), kSides),
            "cat/1.png cannot be read here");
}

TEST_F(Identity, ShowsNamesWithoutTheirControlCharacters) {
  const DataIdentity before = now();
  write_files(folder_, {"cat/\t\x1b[1m\\.png"});
  EXPECT_EQ(since(before), "cat/??[1m\\.png is here and not in the run's data");
}

TEST_F(Identity, OfAViewIsThatOfTheWhole) {
  const auto whole = folder_source(folder_.path());
  const std::string text = identity(std::make_shared<Subset>(whole, 2, 1)).text();
  EXPECT_THAT(text, HasSubstr("dog/3.png"));
  EXPECT_THAT(text, HasSubstr("samples\t2\n"));
}

TEST_F(Identity, DescribesASourceOnce) {
  const auto whole = folder_source(folder_.path());
  const DataPart parts[] = {{"training", std::make_shared<Subset>(whole, 3, 1)},
                            {"validation", std::make_shared<Subset>(whole, 1, 2)}};
  EXPECT_THAT(identity_of(parts).text(),
              testing::EndsWith("part\tvalidation\nclass\t0\tcat\nclass\t1\tdog\n"
                                "as\ttraining\nsamples\t1\n"));
  EXPECT_TRUE(content_is_cheap(parts, {.content_bytes = 36}));
}

TEST_F(Identity, OfArraysIsTheirContentPackedOrNot) {
  const auto open = [&](const Bytes& images, const Bytes& labels, const char* ending) {
    return open_idx(folder_.write(std::string("images") + ending, images),
                    folder_.write(std::string("labels") + ending, labels));
  };
  const Bytes images = images_idx(3), labels = labels_idx({0, 1, 1});
  const DataIdentity plain = identity(open(images, labels, ""));
  EXPECT_EQ(identity(open(gzip_bytes(images), gzip_bytes(labels), ".gz")).text(), plain.text());
  Bytes changed = images;
  changed.back() ^= 1U;
  EXPECT_EQ(first_difference(identity(open(changed, labels, "")).text(), plain.text(), kSides),
            "images has other content here than in the run's data");
  EXPECT_EQ(first_difference(identity(open(images, labels_idx({0, 0, 1}), ""), false).text(),
                             plain.text(), kSides),
            "labels has other content here than in the run's data");
}

TEST_F(Identity, FileKeepsTheText) {
  const fs::path path = folder_.path() / kIdentityFile;
  EXPECT_FALSE(read_identity(path));
  std::string text = now().text();
  while (text.size() < (3U << 20U)) text += text;  // several pieces
  write_identity(path, DataIdentity(text));
  EXPECT_LT(fs::file_size(path), text.size() / 20);
  ASSERT_TRUE(read_identity(path));
  EXPECT_EQ(read_identity(path)->text(), text);
  Bytes bytes = contents_of(path);
  bytes.resize(bytes.size() / 2);
  folder_.write(kIdentityFile, bytes);
  EXPECT_FALSE(read_identity(path));
  folder_.write(kIdentityFile, {'x'});
  EXPECT_FALSE(read_identity(path));
}

std::string many_lines(int images, int omitted = -1) {
  std::string text = "stoker-data\t1\tlisting\npart\ttraining\nclass\t0\tcat\n";
  for (int i = 0; i < images; ++i) {
    if (i != omitted) text += fmt::format("image\tcat/{:06}.png\t100\t0\t-\n", i);
  }
  return text + fmt::format("samples\t{}\n", images - (omitted < 0 ? 0 : 1));
}

TEST(IdentityChunks, LeadToTheFirstDifference) {
  const std::string all = many_lines(10'000);
  EXPECT_EQ(chunk_digests(all).size(), 16U * 10);
  EXPECT_EQ(first_different_chunk(chunk_digests(all), chunk_digests(all)), std::nullopt);
  for (const int omitted : {0, 1019, 1020, 1021, 1022, 1023, 1024, 5000, 9999}) {
    const std::string fewer = many_lines(10'000, omitted);
    const auto chunk = first_different_chunk(chunk_digests(fewer), chunk_digests(all));
    ASSERT_TRUE(chunk);
    const std::string here = chunk_window(fewer, *chunk), there = chunk_window(all, *chunk);
    EXPECT_LT(there.size(), 80'000U);
    EXPECT_TRUE(here.starts_with(*chunk == 0 ? "stoker-data" : "part\ttraining\n"));
    const std::string found =
        first_difference(here, there, {.there = "on rank 0"}, IdentityExtent::kWindow);
    EXPECT_THAT(found, HasSubstr(fmt::format("cat/{:06}.png", omitted))) << omitted;
    if (omitted == 5000) {
      EXPECT_EQ(found, "cat/005001.png is here where cat/005000.png is on rank 0");
    }
  }
}

TEST(IdentityChunks, SeeTextsOfDifferentLength) {
  const std::string shorter = many_lines(1000), longer = many_lines(3000);
  const auto chunk = first_different_chunk(chunk_digests(shorter), chunk_digests(longer));
  ASSERT_TRUE(chunk);
  EXPECT_EQ(first_difference(chunk_window(shorter, *chunk), chunk_window(longer, *chunk),
                             {.there = "on rank 0"}, IdentityExtent::kWindow),
            "cat/001000.png is on rank 0 and not here");
}

}  // namespace
}  // namespace stoker
