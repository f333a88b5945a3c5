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

const std::vector<FieldInfo> kFields = {{std::string(kClassesField), {"a", "b", "c"}},
                                        {std::string(kWeightField), {"w"}}};

ShardIndex example_with_fields() {
  ShardIndex index = example();
  index.fields = FieldRows(kFields);
  index.fields.add(std::vector<std::uint32_t>{0, 2}, std::vector<float>{0.1F});
  index.fields.add({}, std::vector<float>{1e-7F});
  return index;
}

TEST(ShardIndex, KeepsFieldsInAVersionOfItsOwn) {
  ShardBounds bounds = kBounds;
  bounds.fields = kFields;
  const ShardIndex index = example_with_fields();
  const std::string text = to_text(index);
  EXPECT_THAT(text, HasSubstr("#stoker-index\t2\t"));
  EXPECT_THAT(text, HasSubstr("\t0.jpg\t0,2\t0.1\n"));
  EXPECT_EQ(parse_shard_index(text, bounds, "i"), index);
  for (std::size_t length = 0; length + 4 < text.size(); ++length) {
    EXPECT_THROW(static_cast<void>(parse_shard_index(text.substr(0, length), bounds, "i")), Error)
        << length;
  }
  EXPECT_THROW(static_cast<void>(parse_shard_index(text, kBounds, "i")), Error);
  EXPECT_THROW(static_cast<void>(parse_shard_index(to_text(example()), bounds, "i")), Error);
}

TEST(ShardIndex, RefusesFieldsThatDoNotFit) {
  ShardBounds bounds = kBounds;
  bounds.fields = kFields;
  const std::string text = to_text(example_with_fields());
  for (const char* wrong : {"2,0\t0.1", "0,3\t0.1", "0,0\t0.1", "0,\t0.1", "0,2\t", "0,2\t1,2",
                            "0,2\tnan", "0,2\tx", "-1\t0.1", "0,2\t0.1,"}) {
    std::string changed = text;
    changed.replace(changed.find("0,2\t0.1"), 7, wrong);
    EXPECT_THAT(message_of([&] { static_cast<void>(parse_shard_index(changed, bounds, "i")); }),
                HasSubstr("finite numbers"))
        << wrong;
  }
}

TEST(ShardManifest, StatesFieldsInAVersionOfItsOwn) {
  const std::string digest(32, 'a');
  const ShardManifest manifest{.class_names = {},
                               .shape = {},
                               .shards = {{"a.tar", 10, 20'000, digest, 300, digest}},
                               .fields = kFields};
  const std::string text = to_text(manifest);
  EXPECT_TRUE(text.starts_with("#stoker-shards\t2\n"));
  EXPECT_EQ(parse_manifest(text, "m"), manifest);
  const auto refusal = [&](std::vector<FieldInfo> fields) {
    ShardManifest other = manifest;
    other.fields = std::move(fields);
    return message_of([&] { static_cast<void>(parse_manifest(to_text(other), "m")); });
  };
  EXPECT_THAT(refusal({kFields[1], kFields[0]}), HasSubstr("a field and"));
  EXPECT_THAT(refusal({kFields[0], kFields[0]}), HasSubstr("a field and"));
  EXPECT_THAT(refusal({{std::string(kWeightField), {"v", "w"}}}), HasSubstr("a field and"));
  EXPECT_THAT(refusal({{"", {"v"}}}), HasSubstr("a field and"));
  EXPECT_THAT(message_of([&] {
                (void)to_text(ShardManifest{.fields = {{"target", {"a\tb"}}}});
              }),
              HasSubstr("control characters"));
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

TEST(ScanShard, ReadsKeysOfJson) {
  const std::string archive =
      member("0.jpg", "x") + member("0.cls", "7") +
      member("0.json", R"({"tags": ["b", "a"], "x": 1.5, "w": 2, "kind": "k", "p": true})") +
      member("1.jpg", "y") +
      member("1.json", R"({"tags": [], "x": -2, "w": 0, "kind": 3, "p": 0, "label": 9})");
  const auto scan = [&](const TableColumns& keys) {
    return scan_shard(as_bytes(archive), "s.tar", keys);
  };
  const auto tags = scan({.weight = "w", .labels = {"tags"}});
  EXPECT_THAT(tags[0].labels.names, testing::ElementsAre("b", "a"));
  EXPECT_THAT(tags[0].labels.numbers, testing::ElementsAre(2));
  EXPECT_EQ(tags[0].class_text, "");
  EXPECT_THAT(scan({.targets = {"x"}})[1].labels.numbers, testing::ElementsAre(-2));
  EXPECT_THAT(scan({.labels = {"p", "none"}})[0].labels.flags, testing::ElementsAre(true, false));
  EXPECT_EQ(scan({.label = "kind"})[0].class_text, "k");
  EXPECT_EQ(scan({.label = "kind"})[1].class_text, "3");
  EXPECT_EQ(scan({.weight = "w"})[0].class_text, "7");
  EXPECT_EQ(scan({.weight = "w"})[1].class_text, "9");
  const auto refusal = [&](const TableColumns& keys) {
    return message_of([&] { static_cast<void>(scan(keys)); });
  };
  EXPECT_THAT(
      refusal({.targets = {"tags"}}),
      testing::AllOf(HasSubstr("s.tar#0.json"), HasSubstr("\"tags\""), HasSubstr("[\"b\",\"a\"]")));
  EXPECT_THAT(refusal({.targets = {"y"}}), HasSubstr("got nothing"));
  EXPECT_THAT(refusal({.weight = "x"}), HasSubstr("s.tar#1.json"));
  EXPECT_THAT(refusal({.label = "x"}), HasSubstr("number of a class"));
  EXPECT_THAT(refusal({.labels = {"kind"}}), HasSubstr("0 or 1"));
}

TEST(ScanShard, ASampleWithoutJsonHasNoKeys) {
  const std::string archive = member("0.jpg", "x") + member("0.cls", "7");
  EXPECT_THAT(message_of([&] {
                static_cast<void>(scan_shard(as_bytes(archive), "s.tar", {.targets = {"x"}}));
              }),
              HasSubstr("without .json"));
  EXPECT_EQ(scan_shard(as_bytes(archive), "s.tar", {.label = "kind"})[0].class_text, "7");
  const std::string broken = member("0.jpg", "x") + member("0.json", "{");
  EXPECT_THAT(message_of([&] {
                static_cast<void>(scan_shard(as_bytes(broken), "s.tar", {.targets = {"x"}}));
              }),
              HasSubstr("no JSON"));
}

// A manifest with these lines, and the digest that belongs to them.
std::string digested(const std::string& lines) {
  return lines + "#digest\t" + digest_of(as_bytes(lines)) + "\n";
}

TEST(ShardManifest, RefusesLinesThatSayNothing) {
  const std::string digest(32, 'a');
  const std::string shard = "a.tar\t1\t2\t" + digest + "\t3\t" + digest + "\n";
  const auto refusal = [](const std::string& lines) {
    return message_of([&] { static_cast<void>(parse_manifest(digested(lines), "m")); });
  };
  EXPECT_EQ(parse_manifest(digested("#stoker-shards\t1\n" + shard), "m").shards.size(), 1U);
  EXPECT_THAT(refusal("#stoker-shards\t3\n" + shard), HasSubstr("#stoker-shards, 1 or 2"));
  EXPECT_THAT(refusal("#stoker-shards\t1\n#classes\tcat\tdog\x1b[2J\n" + shard),
              testing::AllOf(HasSubstr("names of classes"), HasSubstr("line 2")));
  EXPECT_THAT(refusal("#stoker-shards\t1\n#shape\t0\t28\t1\n" + shard), HasSubstr("height, width"));
  EXPECT_THAT(refusal("#stoker-shards\t1\n"), HasSubstr("at least one shard"));
  EXPECT_THAT(refusal("#stoker-shards\t2\n" + shard), HasSubstr("fields of the samples"));
}

}  // namespace
}  // namespace stoker
