#include "stoker/data/sources/listing_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "stoker/core/test_files.h"
#include "stoker/data/detail/listing_file.h"
#include "stoker/data/test_listings.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class ListingCache : public testing::Test {
 protected:
  ListingCache() { write_files(folder_, {"data/a/1.jpg", "data/a/s/2.jpg", "data/b/1.jpg"}); }

  // As if the folders had been left alone for an hour.
  ImageListing list() const {
    const auto later = std::chrono::system_clock::now() + std::chrono::hours(1);
    return list_images_cached(root(), cache(), later);
  }
  // Changes a file in place, which the cache cannot notice: whether the next listing comes from it.
  bool comes_from_cache() const {
    folder_.write("data/a/1.jpg", Bytes(1000));
    const bool old = list().images.at(0).bytes != 1000;
    write_files(folder_, {"data/a/1.jpg"});
    return old;
  }
  fs::path cache_file() const { return fs::directory_iterator(cache())->path(); }
  fs::path root() const { return folder_.path() / "data"; }
  fs::path cache() const { return folder_.path() / "cache" / "listings"; }

  std::chrono::system_clock::time_point started_ = std::chrono::system_clock::now();
  TempFolder folder_;
};

TEST_F(ListingCache, IsUsedAndTellsTheSame) {
  const ImageListing first = list(), fresh = list_images(root());
  ASSERT_TRUE(comes_from_cache());
  const ImageListing second = list();
  for (const ImageListing* listing : {&first, &second}) {
    EXPECT_EQ(paths_of(*listing), paths_of(fresh));
    EXPECT_EQ(ignored_of(*listing), ignored_of(fresh));
    EXPECT_EQ(listing->class_names, fresh.class_names);
    EXPECT_EQ(listing->root, root());
    EXPECT_EQ(listing->images[2].label, 1);
    EXPECT_EQ(listing->images[2].bytes, fresh.images[2].bytes);
    EXPECT_EQ(listing->images[2].modified_ns, fresh.images[2].modified_ns);
  }
}

TEST_F(ListingCache, NoticesWhatIsAddedRemovedAndRenamedAtAnyDepth) {
  (void)list();
  write_files(folder_, {"data/a/s/3.jpg"});
  EXPECT_EQ(list().images.size(), 4U);
  fs::remove(root() / "a/1.jpg");
  EXPECT_EQ(list().images.size(), 3U);
  fs::rename(root() / "a/s/2.jpg", root() / "a/s/9.jpg");
  EXPECT_THAT(paths_of(list()), ElementsAre("a/s/3.jpg", "a/s/9.jpg", "b/1.jpg"));
  write_files(folder_, {"data/c/1.jpg"});
  EXPECT_THAT(list().class_names, ElementsAre("a", "b", "c"));
  fs::remove_all(root() / "b");
  EXPECT_THAT(list().class_names, ElementsAre("a", "c"));
}

TEST_F(ListingCache, NoticesAFolderWhoseTimeWasSetBack) {
  (void)list();
  const auto time = fs::last_write_time(root() / "a");
  write_files(folder_, {"data/a/0.jpg"});
  fs::last_write_time(root() / "a", time);
  EXPECT_EQ(list().images.size(), 4U);
}

// What becomes of a link's file changes no folder of the data.
TEST_F(ListingCache, IsNotKeptWithLinksToFiles) {
  write_files(folder_, {"elsewhere/x.jpg"});
  fs::create_symlink(folder_.path() / "elsewhere/later.jpg", root() / "a/later.jpg");
  EXPECT_EQ(list().images.size(), 3U);
  write_files(folder_, {"elsewhere/later.jpg"});
  EXPECT_EQ(list().images.size(), 4U);
  fs::remove(folder_.path() / "elsewhere/later.jpg");
  EXPECT_EQ(list().images.size(), 3U);
}

TEST_F(ListingCache, IsKeptWithLinksToFoldersAndSeesWhatChangesThere) {
  write_files(folder_, {"elsewhere/folder/y.jpg"});
  fs::create_directory_symlink(folder_.path() / "elsewhere/folder", root() / "c");
  EXPECT_EQ(list().images.size(), 4U);
  EXPECT_TRUE(comes_from_cache());
  write_files(folder_, {"elsewhere/folder/z.jpg"});
  EXPECT_EQ(list().images.size(), 5U);
}

TEST_F(ListingCache, IsNotKeptForAFolderThatJustChanged) {
  (void)list_images_cached(root(), cache(), started_);
  EXPECT_FALSE(fs::exists(cache()) && !fs::is_empty(cache()));
  (void)list();
  EXPECT_FALSE(fs::is_empty(cache()));
}

TEST_F(ListingCache, DamagedCutOrForeignIsMadeAnew) {
  (void)list();
  const Bytes whole = contents_of(cache_file());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    Bytes damaged = whole;
    damaged[i] ^= 0x40;
    EXPECT_FALSE(detail::parse_listing(as_span(damaged))) << i;
    EXPECT_FALSE(detail::parse_listing(as_span(whole).first(i))) << i;
  }
  for (const Bytes& bytes : {Bytes{}, Bytes(100, 7), Bytes(whole.begin(), whole.end() - 1)}) {
    folder_.write(cache_file(), bytes);
    EXPECT_FALSE(comes_from_cache());
    folder_.write(cache_file(), bytes);
    EXPECT_EQ(list().images.size(), 3U);
    const Bytes anew = contents_of(cache_file());
    EXPECT_TRUE(detail::parse_listing(as_span(anew)));
  }
}

TEST_F(ListingCache, OfAnotherFolderIsNotUsed) {
  (void)list();
  const fs::path ours = cache_file();
  const Bytes whole = contents_of(ours);
  fs::remove(ours);
  write_files(folder_, {"other/x/1.jpg"});
  const auto later = std::chrono::system_clock::now() + std::chrono::hours(1);
  (void)list_images_cached(folder_.path() / "other", cache(), later);
  folder_.write(cache_file(), whole);  // under the other folder's name
  EXPECT_THAT(list_images_cached(folder_.path() / "other", cache(), later).class_names,
              ElementsAre("x"));
}

TEST_F(ListingCache, DoesWithoutWhereItCannotBeWritten) {
  folder_.write("cache", {1});  // a file where the folder should be
  EXPECT_EQ(list().images.size(), 3U);
  EXPECT_EQ(list_images_cached(root(), "").images.size(), 3U);
  EXPECT_EQ(list_images_cached(root(), "/proc/missing").images.size(), 3U);
}

TEST_F(ListingCache, SameFolderUnderOtherSpellingsIsOneFile) {
  (void)list();
  const auto later = std::chrono::system_clock::now() + std::chrono::hours(1);
  (void)list_images_cached(root() / "a" / ".." / "", cache(), later);
  EXPECT_EQ(entries_in(cache()), 1);
}

TEST_F(ListingCache, ErrorsAreThoseOfListing) {
  (void)list();
  fs::remove(root() / "b/1.jpg");
  EXPECT_EQ(error_of([&] { (void)list(); }).path, (root() / "b").string());
  EXPECT_FALSE(error_of([&] { (void)list_images_cached(root() / "none", cache()); }).what.empty());
}

TEST(ListingFile, PathsThatLeaveTheRootAndLabelsWithoutClassAreRefused) {
  const auto survives = [](const std::string& path, std::int32_t label) {
    detail::WalkedListing walked;
    walked.listing.class_names = {"a", "b"};
    walked.listing.images.push_back({.path = path, .label = label});
    return detail::parse_listing(detail::encode_listing(walked)).has_value();
  };
  EXPECT_TRUE(survives("a/..b/1.jpg", 1));
  for (const char* path : {"/etc/passwd", "../1.jpg", "a/../../1.jpg", "a/..", ""}) {
    EXPECT_FALSE(survives(path, 1)) << path;
  }
  EXPECT_FALSE(survives(std::string("a\0b", 3), 1));
  for (const int label : {-1, 2, -2}) EXPECT_FALSE(survives("a/1.jpg", label)) << label;
}

// A count of 2^60 must be refused before memory is taken for it.
TEST(ListingFile, CountsBeyondTheBytesAreRefused) {
  Bytes payload(4, 0);  // no root
  payload.insert(payload.end(), {0, 0, 0, 0, 0, 0, 0, 0x10});
  payload.insert(payload.end(), 64, 0);
  EXPECT_FALSE(detail::parse_listing(detail::frame_listing(as_span(payload))));
}

}  // namespace
}  // namespace stoker
