// Shards from end to end: written, opened, read; kept on a second run; damaged; foreign.
#include "stoker/data/shards/shard_source.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stoker/core/digest.h"
#include "stoker/data/catalog.h"
#include "stoker/data/data_identity.h"
#include "stoker/data/identity_difference.h"
#include "stoker/data/shards/foreign_shards.h"
#include "stoker/data/shards/shard_set.h"
#include "stoker/data/shards/shard_writer.h"
#include "stoker/data/test_images.h"
#include "stoker/data/test_shards.h"
#include "stoker/data/training_parts.h"
#include "stoker/store/local_store.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using test::member;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Two classes of ten images of different sizes.
class Shards : public testing::Test {
 protected:
  Shards() {
    for (int i = 0; i < 20; ++i) {
      const std::string name = (i < 10 ? "cat/" : "dog/") + std::to_string(i) + ".png";
      data_.write("data/" + name, test::png_of(test::scene(static_cast<std::uint64_t>(i), 40 + i)));
    }
    options_.shards.cache_folder = data_.path() / "cache";
  }
  [[nodiscard]] fs::path out() const { return data_.path() / "out"; }
  [[nodiscard]] std::shared_ptr<const Source> folder() const {
    return open_data((data_.path() / "data").string(), Split::kTrain, options_);
  }
  ShardWriteReport write(ShardWriteOptions options = {}) const {
    options.shard_bytes = options.shard_bytes > 100'000 ? 40'000 : options.shard_bytes;
    return write_shards(*folder(), LocalStore(out()), options);
  }
  [[nodiscard]] std::shared_ptr<const Source> open(const fs::path& path) const {
    return open_data(path.string(), Split::kTrain, options_);
  }

  TempFolder data_;
  DataOptions options_;
};

// Every image with its class, whatever the order.
std::multiset<std::pair<std::int64_t, Bytes>> images_of(const Source& source) {
  std::multiset<std::pair<std::int64_t, Bytes>> images;
  SampleBuffer buffer;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    const Sample sample = source.read(i, buffer).value();
    const Image copy(sample.image);
    const std::uint8_t* first = copy.view().data;
    images.emplace(sample.label, Bytes(first, first + copy.shape().bytes()));
  }
  return images;
}

TEST_F(Shards, HoldEveryImageWithItsClass) {
  const ShardWriteReport report = write();
  EXPECT_EQ(report.samples, 20U);
  EXPECT_GT(report.shards, 3U);
  const auto shards = open(out());
  EXPECT_THAT(shards->class_names(), ElementsAre("cat", "dog"));
  EXPECT_EQ(images_of(*shards), images_of(*folder()));
  EXPECT_EQ(images_of(*open(out() / kManifestName)), images_of(*shards));
  ASSERT_NE(shards->layout(), nullptr);
  EXPECT_EQ(shards->layout()->shards(), report.shards);
}

// A mapped file would end the test with SIGBUS here.
TEST_F(Shards, AreAnErrorWithTheirNameWhenTheyAreShortenedInUse) {
  write();
  const auto shards = open(out());
  SampleBuffer buffer;
  ASSERT_TRUE(shards->read(0, buffer));
  for (const auto& entry : fs::directory_iterator(out())) {
    if (entry.path().extension() == ".tar") fs::resize_file(entry.path(), 600);
  }
  auto sample = shards->read(0, buffer);
  ASSERT_FALSE(sample);
  EXPECT_THAT(sample.error().path, HasSubstr("shard-000000.tar"));
  EXPECT_THAT(sample.error().found, HasSubstr("shorter"));
  std::vector<std::byte> room;
  auto bytes = shards->read_bytes(0, [&](std::size_t size) -> std::span<std::byte> {
    room.resize(size);
    return room;
  });
  ASSERT_FALSE(bytes);
  EXPECT_THAT(bytes.error().found, HasSubstr("shorter"));
}

TEST_F(Shards, AreReadFromFilesAsFromMemory) {
  std::string archive;
  for (int i = 0; i < 9; ++i) {
    archive +=
        member(fmt::format("{}.png", i), std::string(static_cast<std::size_t>(i) << 18, 'x'));
    archive += member(fmt::format("{}.cls", i), "1");
  }
  archive += tar_end();
  const auto path = data_.write("x.tar", Bytes(archive.begin(), archive.end()));
  const InputFile file(path);
  const auto found = scan_shard(ArchiveBytes(file), "x.tar");
  const auto expected = scan_shard(test::as_bytes(archive), "x.tar");
  ASSERT_EQ(found.size(), 9U);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(found[i].sample, expected[i].sample) << i;
  EXPECT_EQ(ArchiveBytes(file).digest(), ArchiveBytes(test::as_bytes(archive)).digest());
  fs::resize_file(path, archive.size() / 2);
  EXPECT_THAT(message_of([&] { static_cast<void>(scan_shard(ArchiveBytes(file), "x.tar")); }),
              HasSubstr("shorter"));
}

TEST_F(Shards, AreDividedAsWholeShardsByTheirNames) {
  write();
  const auto all = open(out());
  const Division half{.kind = Division::Kind::kFraction, .fraction = 0.5};
  const auto [train, validation] = divide(all, half);
  EXPECT_EQ(train->layout()->shards() + validation->layout()->shards(), all->layout()->shards());
  auto both = images_of(*train);
  both.merge(images_of(*validation));
  EXPECT_EQ(both, images_of(*all));
  const auto again = divide(all, half);
  EXPECT_EQ(again.validation->sample_name(0), validation->sample_name(0));
  std::set<std::string> first_names;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    first_names.insert(divide(all, {.fraction = 0.01, .seed = seed}).validation->sample_name(0));
  }
  EXPECT_GT(first_names.size(), 1U) << "another seed, another shard";
  std::uint64_t samples = 0;
  for (std::uint32_t fold = 0; fold < 3; ++fold) {
    samples +=
        divide(all, {.kind = Division::Kind::kFolds, .folds = 3, .fold = fold}).validation->size();
  }
  EXPECT_EQ(samples, 20U);
  EXPECT_THAT(message_of([&] { (void)divide(all, {.kind = Division::Kind::kEvery, .every = 2}); }),
              HasSubstr("`val_fraction`"));
}

TEST_F(Shards, AreNotDividedUnasked) {
  write();
  EXPECT_THAT(message_of([&] { (void)open_training_parts({.data = out().string()}, options_); }),
              AllOf(HasSubstr("`val_data`"), HasSubstr("`val_fraction`")));
  const TrainingParts parts = open_training_parts(
      {.data = out().string(), .division = Division{.fraction = 0.3}}, options_);
  EXPECT_GT(parts.validation->size(), 0U);
}

TEST_F(Shards, HaveThreeParts) {
  for (const char* part : {"train", "val", "test"}) {
    static_cast<void>(write_shards(*folder(), LocalStore(out() / part), {}));
  }
  EXPECT_EQ(find_data_parts(out().string(), options_),
            (DataParts{.validation = true, .test = true}));
  EXPECT_THAT(open_data(out().string(), Split::kTest, options_)->sample_name(0),
              HasSubstr("/test/"));
  EXPECT_THAT(open_data(out().string(), Split::kValidation, options_)->sample_name(0),
              HasSubstr("/val/"));
  fs::remove_all(out() / "val");
  EXPECT_THAT(message_of([&] { (void)open_data(out().string(), Split::kValidation, options_); }),
              AllOf(HasSubstr("no validation part"), HasSubstr("train and test")));
}

TEST_F(Shards, AreIdentifiedByTheirManifest) {
  write();
  const auto identity = [&] {
    const DataPart parts[] = {{"training", open(out())}};
    return identity_of(parts, false, {}).text();
  };
  const std::string before = identity();
  EXPECT_THAT(before, HasSubstr("class\t1\tdog\nshard\tshard-000000.tar\t"));
  EXPECT_THAT(before, Not(HasSubstr(".png")));
  // Another image of the same name.
  data_.write("data/cat/3.png", test::png_of(test::scene(99, 43)));
  fs::remove_all(out());
  write();
  const IdentitySides sides{.there = "on rank 0"};
  EXPECT_THAT(first_difference(identity(), before, sides), HasSubstr("shard-00000"));
  fs::rename(data_.path() / "data/dog", data_.path() / "data/hound");
  fs::remove_all(out());
  write();
  EXPECT_EQ(first_difference(identity(), before, sides),
            "class 1 is 'hound' here and 'dog' on rank 0");
}

TEST_F(Shards, AreTheSameBytesForAnyNumberOfThreads) {
  write({.seed = 3, .threads = 1});
  const Bytes first = contents_of(out() / "shard-000001.tar");
  const Bytes manifest = contents_of(out() / kManifestName);
  fs::remove_all(out());
  write({.seed = 3, .threads = 4});
  EXPECT_EQ(contents_of(out() / "shard-000001.tar"), first);
  EXPECT_EQ(contents_of(out() / kManifestName), manifest);
  fs::remove_all(out());
  write({.seed = 4});
  EXPECT_NE(contents_of(out() / "shard-000001.tar"), first);
}

TEST_F(Shards, AreKeptByASecondRunUnlessTheyChanged) {
  const std::uint64_t shards = write().shards;
  const Bytes manifest = contents_of(out() / kManifestName);
  fs::remove(out() / kManifestName);
  fs::remove(out() / "shard-000002.tsv");  // as if killed before the index
  Bytes damaged = contents_of(out() / "shard-000001.tar");
  damaged[600] ^= 1;
  data_.write("out/shard-000001.tar", damaged);
  EXPECT_EQ(write().kept, shards - 2);
  EXPECT_EQ(contents_of(out() / kManifestName), manifest);
  EXPECT_EQ(write().kept, shards);
  EXPECT_THAT(message_of([&] { write({.seed = 9}); }), HasSubstr("another seed"));
}

TEST_F(Shards, AreWrittenAnewWhereASourceChangedInPlace) {
  const std::uint64_t shards = write({.quality = 80}).shards;
  const fs::path image = data_.path() / "data/cat/3.png";
  Bytes bytes = contents_of(image);
  const auto time = fs::last_write_time(image);
  // Another image in as many bytes: what a PNG has after its end does not matter.
  Bytes other = test::png_of(test::changed(test::scene(3, 43), 30, 0));
  ASSERT_LE(other.size(), bytes.size());
  other.resize(bytes.size());
  data_.write("data/cat/3.png", other);
  fs::last_write_time(image, time);
  EXPECT_EQ(write({.quality = 80}).kept, shards - 1);
  EXPECT_EQ(write({.quality = 80}).kept, shards);
  const auto before = images_of(*open(out()));
  fs::remove_all(out());
  write({.quality = 80});
  EXPECT_EQ(images_of(*open(out())), before);
}

TEST_F(Shards, LeaveNoTemporaryFilesOfAKilledRun) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  const fs::path left = data_.write(fmt::format("out/.stoker-{}-0.tmp", child), {1, 2, 3});
  write();
  EXPECT_FALSE(fs::exists(left));
}

TEST_F(Shards, ShrinkAndEncodeImagesWhereAsked) {
  write({.max_side = 30, .quality = 80});
  const auto shards = open(out());
  SampleBuffer buffer;
  for (std::uint64_t i = 0; i < shards->size(); ++i) {
    const ImageShape shape = shards->read(i, buffer)->image.shape;
    EXPECT_EQ(std::max(shape.width, shape.height), 30);
  }
  EXPECT_THAT(FileBytes(out() / "shard-000000.tsv").bytes().size(), testing::Gt(0U));
  const Bytes index = contents_of(out() / "shard-000000.tsv");
  EXPECT_THAT(std::string(index.begin(), index.end()), HasSubstr(".jpg"));
}

TEST_F(Shards, HaveTheSamePixelsWithJpegsForDecodingInParts) {
  write({.quality = 80});
  const auto images = images_of(*open(out()));
  const Bytes plain = contents_of(out() / "shard-000000.tar");
  fs::remove_all(out());
  const std::uint64_t shards = write({.quality = 80, .jpeg_index = true}).shards;
  EXPECT_EQ(images_of(*open(out())), images);
  EXPECT_NE(contents_of(out() / "shard-000000.tar"), plain);
  EXPECT_EQ(write({.quality = 80, .jpeg_index = true}).kept, shards);
  EXPECT_THAT(message_of([&] { write({.quality = 80}); }), HasSubstr("other options"));
}

TEST_F(Shards, NoticeADamagedSampleAndNameIt) {
  write();
  Bytes tar = contents_of(out() / "shard-000000.tar");
  tar[700] ^= 1;  // in the first image
  data_.write("out/shard-000000.tar", tar);
  const auto shards = open(out());
  SampleBuffer buffer;
  const auto damaged = shards->read(0, buffer);
  ASSERT_FALSE(damaged);
  EXPECT_THAT(to_string(damaged.error()), HasSubstr("shard-000000.tar#0 (00000"));
  EXPECT_TRUE(shards->read(1, buffer));
}

TEST_F(Shards, NoticeAnIndexOrShardThatIsNotTheManifests) {
  write();
  Bytes index = contents_of(out() / "shard-000000.tsv");
  index.back() = 'x';
  data_.write("out/shard-000000.tsv", index);
  Bytes tar = contents_of(out() / "shard-000001.tar");
  tar.erase(tar.end() - 512, tar.end());
  data_.write("out/shard-000001.tar", tar);
  const auto shards = open(out());
  SampleBuffer buffer;
  EXPECT_THAT(to_string(shards->read(0, buffer).error()), HasSubstr("not the manifest's"));
  const std::uint64_t second = shards->layout()->first_of(1);
  EXPECT_THAT(to_string(shards->read(second, buffer).error()), HasSubstr("what the manifest says"));
}

// A folder as a store that is not on this machine. It counts what is read.
class DistantFolder final : public Store {
 public:
  explicit DistantFolder(const fs::path& folder) : folder_(folder) {}
  [[nodiscard]] std::string where() const override { return "distant://"; }
  [[nodiscard]] std::optional<ObjectFacts> look(const std::string& name) const override {
    return folder_.look(name);
  }
  void read(const ReadRequest& request, const ByteSink& sink) const override {
    ++reads;
    folder_.read(request, sink);
  }
  void write(const std::string&, const fs::path&) const override {}
  [[nodiscard]] std::vector<std::string> list() const override { return folder_.list(); }
  mutable std::atomic<int> reads{0};

 private:
  LocalStore folder_;
};

// Changes the byte in the middle of each file of this kind.
void damage_all(const fs::path& folder, const char* extension) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != extension) continue;
    Bytes bytes = contents_of(entry.path());
    bytes.at(bytes.size() / 2) ^= 0x55;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
}

class DistantShards : public Shards {
 protected:
  DistantShards() {
    write({.shard_bytes = 4'000});  // more of them than a pool keeps open
    store_ = std::make_shared<DistantFolder>(out());
  }
  // Its cache keeps one shard or none.
  [[nodiscard]] std::shared_ptr<const Source> open_distant(std::uint64_t cache_bytes) const {
    const auto text = read_text(*store_, kManifestName, 1 << 20);
    auto set = std::make_shared<ShardSet>(
        parse_manifest(text, "manifest"), store_, store_,
        std::make_shared<ObjectCache>(*options_.shards.cache_folder, cache_bytes));
    return std::make_shared<ShardSource>(std::move(set), options_.images, options_.shards);
  }
  std::shared_ptr<DistantFolder> store_;
};

TEST_F(DistantShards, AreFetchedAgainWhereTheCacheIsDamaged) {
  const auto wanted = images_of(*folder());
  EXPECT_EQ(images_of(*open_distant(1 << 30)), wanted);
  const int reads = store_->reads;
  EXPECT_EQ(images_of(*open_distant(1 << 30)), wanted);
  EXPECT_EQ(store_->reads, reads + 1);  // the manifest
  damage_all(*options_.shards.cache_folder, ".object");
  const auto source = open_distant(1 << 30);
  EXPECT_EQ(images_of(*source), wanted);
  EXPECT_GT(store_->reads, reads + 2);
  // Also while they are open.
  damage_all(*options_.shards.cache_folder, ".object");
  EXPECT_EQ(images_of(*source), wanted);
}

TEST_F(DistantShards, WithOtherContentUnderTheSameNamesAreRefusedInALaterEpoch) {
  const auto source = open_distant(1);  // every epoch fetches them
  EXPECT_EQ(images_of(*source).size(), 20U);
  damage_all(out(), ".tar");
  std::set<std::string> messages;
  SampleBuffer buffer;
  for (std::uint64_t i = 0; i < source->size(); ++i) {
    const auto sample = source->read(i, buffer);
    if (!sample) messages.insert(to_string(sample.error()));
  }
  EXPECT_THAT(messages, testing::Contains(AllOf(HasSubstr("distant:///shard-"),
                                                HasSubstr("damaged or replaced"))));
}

TEST_F(Shards, TravelToAnotherProcessWithTheirLabels) {
  write();
  const auto shards = open(out());
  SampleBuffer buffer;
  for (std::uint64_t i = 0; i < shards->size(); ++i) {
    std::vector<std::byte> room;
    const auto bytes = shards->read_bytes(i, [&](std::size_t size) -> std::span<std::byte> {
      room.resize(size);
      return room;
    });
    SampleBuffer other;
    const Sample decoded = shards->decode(i, std::as_const(room), {}, other).value();
    const Sample read = shards->read(i, buffer).value();
    EXPECT_EQ(Image(decoded.image), Image(read.image));
    EXPECT_EQ(decoded.label, read.label);
  }
}

TEST_F(Shards, OfOthersAreIndexedOnceAndThenKnown) {
  const Bytes a = test::png_of(test::scene(1)), b = test::png_of(test::scene(2));
  const std::string first(a.begin(), a.end()), second(b.begin(), b.end());
  const std::string one = member("0.png", first) + member("0.cls", "3") + tar_end();
  const std::string two = member("1.png", second) + member("1.cls", "0") + tar_end();
  data_.write("foreign/x-08.tar", {one.begin(), one.end()});
  data_.write("foreign/x-09.tar", {two.begin(), two.end()});
  const fs::path foreign = data_.path() / "foreign";
  for (const fs::path& name : {foreign, foreign / "x-{08..09}.tar", foreign}) {
    const auto shards = open(name);
    EXPECT_EQ(shards->size(), 2U);
    EXPECT_THAT(shards->class_names(), ElementsAre("0", "1", "2", "3"));
    SampleBuffer buffer;
    EXPECT_EQ(shards->read(0, buffer)->label, 3);
    EXPECT_EQ(shards->read(1, buffer)->label, 0);
  }
  EXPECT_EQ(entries_in(foreign), 2);
  const fs::path cache = data_.path() / "cache";
  EXPECT_EQ(entries_in(cache), 1);  // both names, one index
  EXPECT_THAT(message_of([&] { static_cast<void>(open(foreign / "x-{08..10}.tar")); }),
              HasSubstr("cannot find the shard"));
}

// Nothing of a hostile archive is believed, and nothing is written but the index in the cache.
TEST_F(Shards, OfEnemiesWriteNothingAndAreRefused) {
  const Bytes image = test::png_of(test::scene(1));
  const std::string content(image.begin(), image.end());
  const std::string good = member("0.png", content);
  const std::vector<std::string> archives = {
      member("../escaped.png", content),        member("/tmp/escaped.png", content),
      good + member("link.png", "", '2'),       good + member("device.png", "", '3'),
      test::pax("path", "../../x.png") + good,  test::pax("size", "99999999999") + good,
      test::pax("GNU.sparse.size", "9") + good, good.substr(0, 700)};
  for (std::size_t i = 0; i < archives.size(); ++i) {
    const std::string name = "hostile/" + std::to_string(i) + ".tar";
    data_.write(name, {archives[i].begin(), archives[i].end()});
    const std::size_t before =
        static_cast<std::size_t>(std::distance(fs::recursive_directory_iterator(data_.path()), {}));
    EXPECT_THAT(message_of([&] { static_cast<void>(open(data_.path() / name)); }),
                HasSubstr("tar archive"))
        << i;
    const std::size_t after =
        static_cast<std::size_t>(std::distance(fs::recursive_directory_iterator(data_.path()), {}));
    EXPECT_LE(after, before + (i == 0 ? 1 : 0));  // the cache's own folder
  }
}

TEST(ExpandBraces, CountsWithLeadingZeros) {
  EXPECT_THAT(expand_braces("a-{08..11}.tar"),
              ElementsAre("a-08.tar", "a-09.tar", "a-10.tar", "a-11.tar"));
  EXPECT_THAT(expand_braces("{0..1}-{5..6}"), ElementsAre("0-5", "0-6", "1-5", "1-6"));
  EXPECT_THAT(expand_braces("plain"), ElementsAre("plain"));
  for (const char* wrong :
       {"{a..b}", "{1..}", "{5..1}", "{1", "{0..99999999}", "{0..9999}{0..9999}"}) {
    EXPECT_THROW(static_cast<void>(expand_braces(wrong)), Error) << wrong;
  }
}

TEST(ShardPool, OpensEachOnceForAnyNumberOfReadersAndForgetsTheOldest) {
  std::atomic<int> opened{0}, had_to_wait{0};
  ShardPool pool(
      [&](std::uint32_t, const std::stop_token&) {
        ++opened;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return std::make_shared<OpenShard>();
      },
      2);
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < 8; ++i) {
      readers.emplace_back([&] {
        std::chrono::nanoseconds waited{0};
        static_cast<void>(pool.get(1, waited));
        if (waited.count() > 0) ++had_to_wait;
      });
    }
  }
  EXPECT_EQ(opened, 1);
  EXPECT_GE(had_to_wait, 1);
  std::chrono::nanoseconds waited{0};
  for (std::uint32_t shard = 2; shard < 2 + ShardPool::kMore; ++shard) {
    static_cast<void>(pool.get(shard, waited));
  }
  const int before = opened;
  static_cast<void>(pool.get(9, waited));
  EXPECT_EQ(opened, before);
  static_cast<void>(pool.get(1, waited));  // was forgotten for the last one
  EXPECT_EQ(opened, before + 1);
  opened = 4;
  const std::vector<std::uint32_t> next = {77};
  pool.expect(0, next);
  for (int i = 0; opened < 5 && i < 500; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(opened, 5);
}

TEST(ShardPool, TellsEveryReaderOfAFailureAndDoesNotAskAgainAtOnce) {
  int tries = 0;
  ShardPool pool(
      [&](std::uint32_t, const std::stop_token&) -> ShardPool::Shard {
        ++tries;
        throw Error({.what = "the store is down"});
      },
      0);
  std::chrono::nanoseconds waited{0};
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(message_of([&] { static_cast<void>(pool.get(1, waited)); }), HasSubstr("down"));
  }
  EXPECT_EQ(tries, 1);
}

TEST(ShardPool, ClosesFilesThatACacheRemovedWhereAShardCannotBeOpened) {
  const TempFolder folder;
  std::weak_ptr<const OpenShard> removed, expected;
  ShardPool pool(
      [&](std::uint32_t shard, const std::stop_token&) -> ShardPool::Shard {
        if (shard > 2 && !removed.expired()) throw Error({.what = "no room"});
        if (shard > 3 && !expected.expired()) throw Error({.what = "no room at all"});
        const auto path = folder.write(std::to_string(shard), {1, 2, 3});
        auto opened = std::make_shared<OpenShard>(OpenShard{InputFile(path), {}});
        std::filesystem::remove(path);
        return opened;
      },
      0);
  const std::vector<std::uint32_t> window = {2, 3};
  pool.expect(0, window);
  std::chrono::nanoseconds waited{0};
  removed = pool.get(1, waited);
  expected = pool.get(2, waited);
  EXPECT_NE(pool.get(3, waited), nullptr);
  EXPECT_TRUE(removed.expired());
  EXPECT_FALSE(expected.expired());
  EXPECT_THAT(message_of([&] { static_cast<void>(pool.get(4, waited)); }), HasSubstr("at all"));
  EXPECT_FALSE(expected.expired());
}

// ---- What cannot be written ----

TEST_F(Shards, AnImageThatCannotBeReadOrEncodedIsNamed) {
  const fs::path image = data_.path() / "data/cat/3.png";
  const Bytes whole = contents_of(image);
  Bytes half = whole;
  half.resize(half.size() / 2);
  Bytes damaged = whole;
  damaged[whole.size() / 2] ^= 0xFF;
  for (const Bytes& bytes : {half, damaged}) {
    data_.write("data/cat/3.png", bytes);
    EXPECT_EQ(error_of([&] { write({.quality = 80}); }).path, image.string());
    fs::remove_all(out());
  }
  data_.write("data/cat/3.png", {1, 2, 3});
  EXPECT_EQ(error_of([&] { write(); }).path, image.string());
}

// Neither a file nor pixels, as after an error of the disk.
class UnreadableSource final : public Source {
 public:
  [[nodiscard]] std::uint64_t size() const override { return 1; }
  [[nodiscard]] ImageShape shape() const override { return {1, 1, 1}; }
  [[nodiscard]] const std::vector<std::string>& class_names() const override { return names_; }
  [[nodiscard]] std::string sample_name(std::uint64_t) const override { return "digit 7"; }
  [[nodiscard]] Result<std::int64_t> label(std::uint64_t, SampleBuffer&) const override {
    return std::int64_t{0};
  }
  [[nodiscard]] Result<Sample> read(std::uint64_t, SampleBuffer&) const override {
    return ErrorDetails{.what = "cannot read", .path = "digits.idx"};
  }

 private:
  std::vector<std::string> names_ = {"digit"};
};

TEST_F(Shards, PixelsThatCannotBeReadAreNamed) {
  const ErrorDetails error =
      error_of([&] { (void)write_shards(UnreadableSource(), LocalStore(out()), {}); });
  EXPECT_EQ(error.path, "digit 7");
  ASSERT_EQ(error.causes.size(), 1U);
  EXPECT_EQ(error.causes[0].path, "digits.idx");
}

TEST_F(Shards, AreNotWrittenWhereThereCanBeNoFolderOrOfNoSize) {
  data_.write("file", {1});
  const LocalStore below(data_.path() / "file" / "out");
  EXPECT_THAT(message_of([&] { static_cast<void>(write_shards(*folder(), below, {})); }),
              AllOf(HasSubstr("cannot make a folder for shards"), HasSubstr("/file/out")));
  EXPECT_THAT(message_of([&] { write({.shard_bytes = 0}); }), HasSubstr("1 byte or more"));
  EXPECT_FALSE(fs::exists(out()));
}

// It takes what is written, and gives it back with another first byte.
class FaultyStore final : public Store {
 public:
  explicit FaultyStore(const fs::path& folder) : folder_(folder) {}
  [[nodiscard]] std::string where() const override { return "faulty://"; }
  [[nodiscard]] std::optional<ObjectFacts> look(const std::string& name) const override {
    return folder_.look(name);
  }
  void read(const ReadRequest& request, const ByteSink& sink) const override {
    folder_.read(request, [&](std::span<const std::byte> bytes) {
      std::vector<std::byte> changed(bytes.begin(), bytes.end());
      if (!changed.empty()) changed.front() ^= std::byte{1};
      sink(changed);
    });
  }
  void write(const std::string& name, const fs::path& file) const override {
    folder_.write(name, file);
  }
  [[nodiscard]] std::vector<std::string> list() const override { return folder_.list(); }

 private:
  LocalStore folder_;
};

TEST_F(Shards, AreReadBackFromTheStoreAndCompared) {
  const FaultyStore store(out());
  const auto write_there = [&] { static_cast<void>(write_shards(*folder(), store, {})); };
  const ErrorDetails error = error_of(write_there);
  EXPECT_THAT(error.what, HasSubstr("reads back differently"));
  EXPECT_THAT(error.path, HasSubstr("faulty:///shard-000000.tar"));
  EXPECT_FALSE(fs::exists(out() / kManifestName));
}

// ---- What cannot be read ----

TEST_F(Shards, AreMixedInAWindowOfAtLeastOne) {
  write();
  for (const auto count : {&ShardOptions::window, &ShardOptions::lanes}) {
    DataOptions options = options_;
    options.shards.*count = 0;
    EXPECT_THAT(message_of([&] { (void)open_data(out().string(), Split::kTrain, options); }),
                HasSubstr("cannot mix the shards"));
  }
}

TEST_F(Shards, HaveTheSizeThatTheManifestStatesOrNone) {
  write();
  EXPECT_THAT(message_of([&] { (void)open(out())->shape(); }), HasSubstr("may differ in size"));
  ShardManifest manifest =
      parse_manifest(read_text(LocalStore(out()), kManifestName, 1 << 20), "m");
  manifest.shape = ImageShape{5, 5, 3};
  const std::string text = to_text(manifest);
  data_.write(fs::path("out") / kManifestName, Bytes(text.begin(), text.end()));
  SampleBuffer buffer;
  const auto sample = open(out())->read(0, buffer);
  ASSERT_FALSE(sample);
  EXPECT_THAT(to_string(sample.error()),
              AllOf(HasSubstr("another shape than the manifest"), HasSubstr(".tar#0")));
}

// The index of a hostile manifest says so; the file is a hole.
TEST_F(Shards, ASampleOfMoreThanAGigabyteIsRefusedBeforeMemoryIsTaken) {
  constexpr std::uint64_t kBytes = (std::uint64_t{1} << 30) + 4096;
  fs::resize_file(data_.write("large/a.tar", {}), kBytes);
  const std::string index = to_text(ShardIndex{
      .shard = "a.tar", .samples = {{.offset = 512, .length = (1U << 30) + 1, .name = "0.png"}}});
  data_.write("large/a.tsv", Bytes(index.begin(), index.end()));
  const std::string manifest =
      to_text(ShardManifest{.shards = {{.name = "a.tar",
                                        .samples = 1,
                                        .bytes = kBytes,
                                        .digest = std::string(32, 'a'),
                                        .index_bytes = index.size(),
                                        .index_digest = digest_of(test::as_bytes(index))}}});
  data_.write(fs::path("large") / kManifestName, Bytes(manifest.begin(), manifest.end()));
  SampleBuffer buffer;
  const auto sample = open(data_.path() / "large")->read(0, buffer);
  ASSERT_FALSE(sample);
  EXPECT_THAT(to_string(sample.error()),
              AllOf(HasSubstr("a.tar#0"), HasSubstr("at most a gigabyte")));
}

TEST_F(Shards, OfOthersWithoutImagesOrWithSomeClassesAreRefused) {
  const auto put = [&](const std::string& name, const std::string& members) {
    const std::string archive = members + tar_end();
    data_.write(name, Bytes(archive.begin(), archive.end()));
    return data_.path() / name;
  };
  const fs::path empty = put("empty/a.tar", "");
  EXPECT_THAT(message_of([&] { (void)open(empty); }), HasSubstr("the shard has no samples"));
  const fs::path some =
      put("some/a.tar", member("0.png", "x") + member("0.cls", "1") + member("1.png", "y"));
  EXPECT_THAT(message_of([&] { (void)open(some); }), HasSubstr("have a class and others none"));
  const fs::path broken = put("broken/a.tar", member("0.png", "no image"));
  SampleBuffer buffer;
  const auto sample = open(broken)->read(0, buffer);
  ASSERT_FALSE(sample);
  EXPECT_THAT(sample.error().path, HasSubstr("a.tar#0"));
}

TEST_F(Shards, AreRefusedWhereTheManifestIsDamaged) {
  write();
  const fs::path manifest = out() / kManifestName;
  data_.write("out/" + std::string(kManifestName), {'n', 'o'});
  EXPECT_EQ(error_of([&] { (void)open(out()); }).path, manifest.string());
}

TEST_F(Shards, AreNotFoundInAFolderThatHasNone) {
  fs::create_directories(data_.path() / "odd" / "folder.tar");
  EXPECT_THAT(message_of([&] { (void)open(data_.path() / "odd"); }),
              AllOf(HasSubstr("cannot find shards"), HasSubstr("`stoker shard`")));
}

}  // namespace
}  // namespace stoker
