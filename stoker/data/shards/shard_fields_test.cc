// Fields of samples in shards: a table's are the same after being written, and others' .json are
// read as they are written.
#include <limits>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/data/catalog.h"
#include "stoker/data/detail/json_labels.h"
#include "stoker/data/division.h"
#include "stoker/data/shards/foreign_shards.h"
#include "stoker/data/shards/shard_index.h"
#include "stoker/data/shards/shard_source.h"
#include "stoker/data/shards/shard_writer.h"
#include "stoker/data/test_images.h"
#include "stoker/data/test_shards.h"
#include "stoker/store/local_store.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using test::member;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Numbers = std::vector<float>;

// As if it lay on another machine: no object is a file of this one.
class FarStore final : public Store {
 public:
  explicit FarStore(const fs::path& folder) : near_(folder) {}
  [[nodiscard]] std::string where() const override { return "far://" + near_.where(); }
  [[nodiscard]] std::optional<ObjectFacts> look(const std::string& name) const override {
    return near_.look(name);
  }
  void read(const ReadRequest& request, const ByteSink& sink) const override {
    near_.read(request, sink);
  }
  void write(const std::string& name, const fs::path& file) const override {
    near_.write(name, file);
  }
  [[nodiscard]] std::vector<std::string> list() const override { return near_.list(); }

 private:
  LocalStore near_;
};

class ShardFields : public testing::Test {
 protected:
  ShardFields() {
    std::string text = "path,tags,x,y,w,kind\n";
    for (int i = 0; i < 12; ++i) {
      const std::string name = fmt::format("{}.png", i);
      folder_.write(name, test::png_of(test::scene(static_cast<std::uint64_t>(i), 30 + i)));
      const char* tags = i % 3 == 0 ? "" : i % 3 == 1 ? "röd" : "blue;röd";
      text += fmt::format("{},{},{},{},{},{}\n", name, tags, 0.1 * i, -i, i % 2,
                          i % 2 == 0 ? "p" : "q");
    }
    table_ = folder_.write("t.csv", Bytes(text.begin(), text.end()));
    options_.shards.cache_folder = folder_.path() / "cache";
  }
  [[nodiscard]] fs::path out() const { return folder_.path() / "out"; }
  [[nodiscard]] std::shared_ptr<const Source> open(const fs::path& path,
                                                   const TableColumns& columns = {}) const {
    DataOptions options = options_;
    options.table = columns;
    return open_data(path.string(), Split::kTrain, options);
  }
  ShardWriteReport write(const TableColumns& columns) const {
    return write_shards(*open(table_, columns), LocalStore(out()), {.shard_bytes = 40'000});
  }
  // By the image's width, which no two have in common.
  static std::map<int, Numbers> numbers_of(const Source& source) {
    std::map<int, Numbers> all;
    SampleBuffer buffer;
    for (std::uint64_t i = 0; i < source.size(); ++i) {
      Numbers numbers(number_count(source.fields()));
      EXPECT_EQ(source.read_fields(i, numbers).value(), numbers.size());
      all[source.read(i, buffer).value().image.shape.width] = numbers;
    }
    return all;
  }
  void expect_same(const Source& shards, const TableColumns& columns) const {
    const auto table = open(table_, columns);
    EXPECT_TRUE(std::ranges::equal(shards.fields(), table->fields()));
    EXPECT_EQ(numbers_of(shards), numbers_of(*table));
    EXPECT_EQ(numbers_of(shards).size(), 12U);
  }
  void put_tar(const std::vector<std::string>& jsons) const {
    std::string archive;
    for (std::size_t i = 0; i < jsons.size(); ++i) {
      const Bytes png = test::png_of(test::scene(i, 30 + static_cast<int>(i)));
      archive += member(fmt::format("{}.png", i), std::string(png.begin(), png.end())) +
                 member(fmt::format("{}.json", i), jsons[i]);
    }
    archive += tar_end();
    folder_.write("foreign/a.tar", Bytes(archive.begin(), archive.end()));
  }

  TempFolder folder_;
  fs::path table_;
  DataOptions options_;
};

TEST_F(ShardFields, OfATableAreTheSameInShards) {
  for (const TableColumns& columns :
       {TableColumns{.labels = {"tags"}}, TableColumns{.weight = "w", .targets = {"y", "x"}},
        TableColumns{.label = "kind", .weight = "w"}}) {
    fs::remove_all(out());
    EXPECT_GT(write(columns).shards, 1U);
    const auto shards = open(out(), columns);
    expect_same(*shards, columns);
    expect_same(*open(out()), columns);  // the manifest knows what they are
    EXPECT_EQ(shards->class_names().size(), columns.label.empty() ? 0U : 2U);
  }
}

TEST_F(ShardFields, AreReadFromJsonWhereThereIsNoManifest) {
  write({.weight = "w", .labels = {"tags"}});
  fs::remove(out() / kManifestName);
  const auto shards = open(out(), {.weight = "w", .labels = {"labels"}});
  expect_same(*shards, {.weight = "w", .labels = {"tags"}});
  fs::remove_all(out());
  write({.targets = {"x", "y"}});
  fs::remove(out() / kManifestName);
  expect_same(*open(out(), {.targets = {"x", "y"}}), {.targets = {"x", "y"}});
  EXPECT_THAT(open(out(), {.targets = {"y"}})->fields()[0].values, ElementsAre("y"));
}

TEST_F(ShardFields, ComeFromARemoteStoreToo) {
  const TableColumns columns{.weight = "w", .labels = {"tags"}};
  const auto store = std::make_shared<FarStore>(out());
  fs::create_directories(out());
  static_cast<void>(write_shards(*open(table_, columns), *store, {.shard_bytes = 40'000}));
  const auto manifest = parse_manifest(read_text(*store, kManifestName, 1 << 20), "m");
  const auto set =
      std::make_shared<ShardSet>(manifest, store, store, open_object_cache(options_.shards));
  ASSERT_TRUE(set->remote());
  expect_same(ShardSource(set, {}, options_.shards), columns);
  const auto names = [&] {
    std::vector<std::string> tars = store->list();
    std::erase_if(tars, [](const std::string& name) { return !name.ends_with(".tar"); });
    return tars;
  }();
  const auto foreign =
      open_foreign_shards(store, names, options_.shards, {.weight = "w", .labels = {"labels"}});
  expect_same(ShardSource(foreign, {}, options_.shards), columns);
}

// As `isolate` does it: the bytes go to another process, which decodes them; the fields are read
// here.
TEST_F(ShardFields, AreReadWhereTheBytesAre) {
  const TableColumns columns{.targets = {"x"}};
  write(columns);
  const auto shards = open(out(), columns);
  std::vector<std::byte> encoded;
  const auto read = shards->read_bytes(3, [&](std::size_t size) -> std::span<std::byte> {
    encoded.resize(size);
    return encoded;
  });
  ASSERT_TRUE(read);
  Numbers number(1);
  ASSERT_TRUE(shards->read_fields(3, number));
  fs::remove_all(out());
  const auto other = open(table_, columns);  // has the sample's number for its width
  SampleBuffer buffer;
  const Sample sample = shards->decode(3, encoded, {}, buffer).value();
  EXPECT_EQ(numbers_of(*other)[sample.image.shape.width], number);
}

TEST_F(ShardFields, AreThoseOfThePart) {
  const TableColumns columns{.targets = {"x"}};
  write(columns);
  const auto all = open(out(), columns);
  const DividedSource parts = divide(all, {.fraction = 0.5});
  auto both = numbers_of(*parts.train);
  both.merge(numbers_of(*parts.validation));
  EXPECT_EQ(both, numbers_of(*all));
}

TEST_F(ShardFields, OtherLabelsThanWereWrittenAreRefused) {
  write({.targets = {"x"}});
  const auto refusal = [&](const TableColumns& columns) {
    return message_of([&] { (void)open(out(), columns); });
  };
  EXPECT_THAT(refusal({.targets = {"y"}}),
              AllOf(HasSubstr("the numbers y"), HasSubstr("the numbers x")));
  EXPECT_THAT(refusal({.labels = {"tags"}}), HasSubstr("several classes"));
  EXPECT_THAT(refusal({.label = "kind"}), HasSubstr("one class"));
}

TEST_F(ShardFields, OtherLabelsMakeOtherShards) {
  write({.targets = {"x"}});
  EXPECT_THAT(message_of([&] { write({.targets = {"y"}}); }), HasSubstr("Choose another `out`"));
  const ShardWriteReport again = write({.targets = {"x"}});
  EXPECT_EQ(again.kept, again.shards);
}

TEST_F(ShardFields, ListsOfOthersAreNamesOrFlags) {
  put_tar({R"({"l": ["b", "a"]})", R"({"l": []})", R"({"l": ["c", "c"]})"});
  const auto names = open(folder_.path() / "foreign", {.labels = {"l"}});
  EXPECT_THAT(names->fields()[0].values, ElementsAre("a", "b", "c"));
  EXPECT_EQ(numbers_of(*names),
            (std::map<int, Numbers>{{30, {1, 1, 0}}, {31, {0, 0, 0}}, {32, {0, 0, 1}}}));
  put_tar({R"({"l": [0, 1, 1]})", R"({"l": [true, false, 0.0]})"});
  const auto flags = open(folder_.path() / "foreign", {.labels = {"l"}});
  EXPECT_THAT(flags->fields()[0].values, ElementsAre("0", "1", "2"));
  EXPECT_EQ(numbers_of(*flags), (std::map<int, Numbers>{{30, {0, 1, 1}}, {31, {1, 0, 0}}}));
  put_tar({R"({"l": [7, 1]})", R"({"l": [1]})"});
  const auto numbers = open(folder_.path() / "foreign", {.labels = {"l"}});
  EXPECT_THAT(numbers->fields()[0].values, ElementsAre("1", "7"));
}

TEST_F(ShardFields, KeysOfOthersAreFlagsAndClasses) {
  put_tar({R"({"p": 1, "q": false, "kind": "u"})", R"({"q": true, "kind": "v"})"});
  const auto both = open(folder_.path() / "foreign", {.labels = {"q", "p"}});
  EXPECT_THAT(both->fields()[0].values, ElementsAre("q", "p"));
  EXPECT_EQ(numbers_of(*both), (std::map<int, Numbers>{{30, {0, 1}}, {31, {1, 0}}}));
  const auto one = open(folder_.path() / "foreign", {.labels = {"q"}});
  EXPECT_EQ(numbers_of(*one), (std::map<int, Numbers>{{30, {0}}, {31, {1}}}));
  EXPECT_THAT(open(folder_.path() / "foreign", {.label = "kind"})->class_names(),
              ElementsAre("u", "v"));
  put_tar({R"({"l": [1]})", R"({"l": 1})"});
  EXPECT_THAT(message_of([&] { (void)open(folder_.path() / "foreign", {.labels = {"l"}}); }),
              HasSubstr("are a list"));
}

TEST_F(ShardFields, WithoutKeysJsonIsReadAsBefore) {
  put_tar({R"({"label": "u", "x": 1})", R"({"label": "v"})"});
  const auto shards = open(folder_.path() / "foreign");
  EXPECT_THAT(shards->class_names(), ElementsAre("u", "v"));
  EXPECT_TRUE(shards->fields().empty());
}

TEST_F(ShardFields, ListsWithoutAnyClassAreRefused) {
  put_tar({R"({"l": []})", R"({"l": []})"});
  EXPECT_THAT(message_of([&] { (void)open(folder_.path() / "foreign", {.labels = {"l"}}); }),
              HasSubstr("no sample of the shards has a class"));
}

TEST(JsonOfASample, IsRefusedWhereJsonCannotHoldIt) {
  const auto refusal = [](const std::vector<FieldInfo>& fields, const Numbers& numbers) {
    return message_of([&] { static_cast<void>(detail::json_of(fields, numbers)); });
  };
  const FieldInfo target{.name = std::string(kTargetField), .values = {"x"}};
  const FieldInfo weight{.name = std::string(kWeightField), .values = {"x"}};
  const FieldInfo latin{.name = std::string(kClassesField), .values = {"caf\xE9"}};
  EXPECT_THAT(refusal({target}, {std::numeric_limits<float>::infinity()}),
              AllOf(HasSubstr("finite numbers"), HasSubstr("x inf")));
  EXPECT_THAT(refusal({target, weight}, {1, 2}), HasSubstr("would have the same key"));
  EXPECT_THAT(refusal({latin}, {1}), HasSubstr("in UTF-8"));
}

}  // namespace
}  // namespace stoker
