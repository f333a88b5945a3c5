#include "stoker/data/shards/shard_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/digest.h"
#include "stoker/data/shards/shard_manifest.h"
#include "stoker/data/test_shards.h"

namespace stoker {
namespace {

using test::as_bytes;
using test::member;
using testing::HasSubstr;

const ShardBounds kBounds{.bytes = 10'000, .classes = 3};

ShardIndex example() {
  return {.shard = "s.tar",
          .plan = "p",
          .samples = {{512, 100, 2, 0xABCDEF, "0.jpg"}, {2048, 7, 0, 1, "1.png"}}};
}

TEST(ShardIndex, IsTheSameAfterBeingWrittenAndRead) {
  EXPECT_EQ(parse_shard_index(to_text(example()), kBounds, "i"), example());
}

TEST(ShardIndex, RefusesEveryTruncation) {
  const std::string text = to_text(example());
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_THROW(static_cast<void>(parse_shard_index(text.substr(0, length), kBounds, "i")), Error)
        << length;
  }
}

TEST(ShardIndex, RefusesSamplesOutsideTheShardOrOverEachOther) {
  const auto refusal = [](const IndexedSample& sample) {
    ShardIndex index = example();
    index.samples.push_back(sample);
    return message_of([&] { static_cast<void>(parse_shard_index(to_text(index), kBounds, "i")); });
  };
  EXPECT_THAT(refusal({9'999, 2, 0, 1, "x"}), HasSubstr("within 10000"));
  EXPECT_THAT(refusal({UINT64_MAX, 2, 0, 1, "x"}), HasSubstr("within 10000"));
  EXPECT_THAT(refusal({2050, 2, 0, 1, "x"}), HasSubstr("after byte 2055"));
  EXPECT_THAT(refusal({3000, 2, 3, 1, "x"}), HasSubstr("3 classes"));
  EXPECT_THAT(refusal({3000, 2, -1, 1, "x"}), HasSubstr("3 classes"));
  EXPECT_THAT(refusal({3000, 2, 0, 1, "../x"}), HasSubstr("and name"));
}

TEST(ShardManifest, IsTheSameAfterBeingWrittenAndRead) {
  const std::string digest(32, 'a');
  const ShardManifest manifest{
      .class_names = {"T-shirt/top", "Ankle boot"},
      .shape = ImageShape{28, 28, 1},
      .shards = {{"a.tar", 10, 20'000, digest, 300, digest}, {"b/c.tar", 1, 2, digest, 3, digest}}};
  const std::string text = to_text(manifest);
  EXPECT_EQ(parse_manifest(text, "m"), manifest);
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_THROW(static_cast<void>(parse_manifest(text.substr(0, length), "m")), Error);
  }
  std::string damaged = text;
  damaged[damaged.find("20000")] = '3';
  EXPECT_THROW(static_cast<void>(parse_manifest(damaged, "m")), Error);
}

TEST(ShardManifest, RefusesNamesThatLeaveTheirFolderAndSumsThatOverflow) {
  const std::string digest(32, 'a');
  const auto refusal = [](const ShardFacts& shard) {
    const std::string text = to_text({.class_names = {}, .shape = {}, .shards = {shard, shard}});
    return message_of([&] { static_cast<void>(parse_manifest(text, "m")); });
  };
  for (const char* name : {"../a.tar", "/a.tar", "a/../../b.tar", ""}) {
    EXPECT_THAT(refusal({name, 1, 2, digest, 3, digest}), HasSubstr("name, samples")) << name;
  }
  EXPECT_THAT(refusal({"a.tar", 0, 2, digest, 3, digest}), HasSubstr("2^48"));
  EXPECT_THAT(refusal({"a.tar", UINT64_MAX, 2, digest, 3, digest}), HasSubstr("2^48"));
  EXPECT_THAT(refusal({"a.tar", 1, 2, "zz", 3, digest}), HasSubstr("name, samples"));
}

TEST(ScanShard, FollowsWebDatasetsRules) {
  const std::string archive =
      member("d/0.jpg", "first") + member("d/0.cls", "7\n") + member(".hidden.jpg", "no") +
      member("d/1.json", R"({"label": "cat"})") + member("d/1.seg.png", "mask") +
      member("d/1.PNG", "second") + member("README", "no sample");
  const auto samples = scan_shard(as_bytes(archive), "s.tar");
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].class_text, "7");
  EXPECT_EQ(archive.substr(samples[0].sample.offset, samples[0].sample.length), "first");
  EXPECT_EQ(samples[0].sample.checksum, digest64(as_bytes("first")));
  EXPECT_EQ(samples[1].class_text, "cat");
  EXPECT_EQ(samples[1].sample.name, "d/1.PNG");
}

TEST(ScanShard, RefusesSamplesWithoutOneImage) {
  const auto refusal = [](const std::string& archive) {
    return message_of([&] { static_cast<void>(scan_shard(as_bytes(archive), "s.tar")); });
  };
  EXPECT_THAT(refusal(member("0.cls", "1")), HasSubstr("without an image"));
  EXPECT_THAT(refusal(member("0.jpg", "a") + member("0.png", "b")), HasSubstr("second image"));
  EXPECT_THAT(refusal(member("0.jpg", "a") + member("0.cls", std::string(300, '1'))),
              HasSubstr("256 bytes"));
  EXPECT_THAT(refusal(member("0.jpg", "a") + member("0.cls", "a\x1b[2J")), HasSubstr("plain text"));
}

}  // namespace
}  // namespace stoker
