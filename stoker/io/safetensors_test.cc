#include "stoker/io/safetensors.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"
#include "stoker/io/test_safetensors.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

void expect_same(const SafetensorsFile& file, const std::vector<TensorView>& tensors) {
  ASSERT_EQ(file.tensors().size(), tensors.size());
  for (const TensorView& tensor : tensors) {
    const TensorView* found = file.find(tensor.name);
    ASSERT_NE(found, nullptr) << tensor.name;
    EXPECT_EQ(found->name, tensor.name);
    EXPECT_EQ(found->dtype, tensor.dtype) << tensor.name;
    EXPECT_EQ(found->shape, tensor.shape) << tensor.name;
    EXPECT_TRUE(std::ranges::equal(found->bytes, tensor.bytes)) << tensor.name;
  }
}

// ---- Types.

TEST(SafetensorsDType, NamesAndSizesBelongTogether) {
  const std::vector<std::pair<std::string, std::size_t>> known{
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"I16", 2}, {"F16", 2},
      {"BF16", 2}, {"I32", 4}, {"F32", 4}, {"F64", 8}, {"I64", 8}};
  for (const auto& [name, bytes] : known) {
    const auto dtype = dtype_from_name(name);
    ASSERT_TRUE(dtype.has_value()) << name;
    EXPECT_EQ(dtype_name(*dtype), name);
    EXPECT_EQ(dtype_bytes(*dtype), bytes) << name;
  }
  for (const char* name : {"", "f32", "F8_E4M3", "U16", "F32 "}) {
    EXPECT_EQ(dtype_from_name(name), std::nullopt) << name;
  }
}

TEST(SafetensorsDType, TensorBytesSeesOverflow) {
  const auto bytes = [](std::vector<std::int64_t> shape) {
    return tensor_bytes(DType::kF32, shape);
  };
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(bytes({}), 4U);
  EXPECT_EQ(bytes({2, 3}), 24U);
  EXPECT_EQ(bytes({2, 0, 3}), 0U);
  EXPECT_EQ(bytes({kMax / 4}), static_cast<std::uint64_t>(kMax / 4 * 4));
  EXPECT_EQ(bytes({kMax / 4 + 1}), std::nullopt);
  EXPECT_EQ(bytes({std::int64_t{1} << 32, std::int64_t{1} << 32}), std::nullopt);  // 0 in 64 bits
  EXPECT_EQ(bytes({0, kMax, kMax}), std::nullopt);
  EXPECT_EQ(bytes({-1}), std::nullopt);
  EXPECT_EQ(bytes({-1, -1}), std::nullopt);
}

// ---- Files that are whole.

TEST(SafetensorsFile, ReadsWhatWasWritten) {
  const TempFolder folder;
  const Sample sample;
  const fs::path path = folder.path() / "a.safetensors";
  write_safetensors(path, sample.tensors, sample.metadata);
  const SafetensorsFile file(path);
  expect_same(file, sample.tensors);
  EXPECT_EQ(file.metadata(), sample.metadata);
  for (const char* name : {"", "a", "biat", "weights", "zzz", "__metadata__"}) {
    EXPECT_EQ(file.find(name), nullptr) << name;
  }
}

TEST(SafetensorsFile, TensorsStayValidWhenTheFileObjectMoves) {
  const TempFolder folder;
  const Sample sample;
  write_safetensors(folder.path() / "a", sample.tensors, sample.metadata);
  SafetensorsFile first(folder.path() / "a");
  const SafetensorsFile second(std::move(first));
  expect_same(second, sample.tensors);
}

TEST(SafetensorsFile, ReadsAFileWithoutTensors) {
  for (const char* header : {"{}", "{}      ", "{ \n\t\r}", R"({"__metadata__":{}})"}) {
    const Bytes bytes = file_of(header);
    const auto file = parse_safetensors(as_span(bytes), "empty");
    EXPECT_THAT(file.tensors(), IsEmpty()) << header;
    EXPECT_THAT(file.metadata(), IsEmpty()) << header;
    EXPECT_EQ(file.find("a"), nullptr);
  }
}

TEST(SafetensorsFile, ListsTensorsInTheOrderOfTheirValues) {
  const Bytes bytes =
      file_of("{" + entry("b", "U8", "2", "3,5") + "," + entry("none", "F32", "0", "3,3") + "," +
                  entry("a", "U8", "3", "0,3") + "}",
              5);
  const auto file = parse_safetensors(as_span(bytes), "ordered");
  ASSERT_EQ(file.tensors().size(), 3U);
  EXPECT_EQ(file.tensors()[0].name, "a");
  EXPECT_EQ(file.tensors()[1].name, "none");
  EXPECT_EQ(file.tensors()[2].name, "b");
  EXPECT_THAT(file.find("b")->bytes, ElementsAre(std::byte{3}, std::byte{4}));
  EXPECT_THAT(file.find("none")->bytes, IsEmpty());
}

TEST(SafetensorsFile, UnderstandsEscapes) {
  const Bytes bytes = file_of(R"({"__metadata__":{"\u00e4\n":"\ud83d\ude00"},)" +
                                  entry(R"(\u0077\"\u0000)", "U8", "1", "0,1") + "}",
                              1);
  const auto file = parse_safetensors(as_span(bytes), "escapes");
  EXPECT_NE(file.find(std::string_view("w\"\0", 3)), nullptr);
  EXPECT_THAT(file.metadata(), ElementsAre(Pair("ä\n", "\xF0\x9F\x98\x80")));
}

TEST(SafetensorsFile, NamesAMissingFile) {
  const TempFolder folder;
  const fs::path path = folder.path() / "missing.safetensors";
  const auto details = error_of([&] { SafetensorsFile file(path); });
  EXPECT_EQ(details.path, path);
}

TEST(SafetensorsFile, ErrorsOfAFileNameIt) {
  const TempFolder folder;
  const fs::path path = folder.write("a.safetensors", file_of("{\"a\":1}"));
  EXPECT_EQ(error_of([&] { SafetensorsFile file(path); }).path, path.string());
  const fs::path empty = folder.write("empty", {});
  EXPECT_THAT(error_of([&] { SafetensorsFile file(empty); }).hint, HasSubstr("cut short"));
}

// ---- Writing.

TEST(WriteSafetensors, MakesTheBytesOfTheFormat) {
  const Bytes values{1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<TensorView> tensors{{"b", DType::kU8, {2, 1}, as_span(values).first(2)},
                                        {"a", DType::kF64, {}, as_span(values)}};
  const auto bytes = encode_safetensors(tensors, {{"z", "1"}, {"k", "ä\""}});
  std::string header = R"({"__metadata__":{"k":"ä\"","z":"1"},)" + entry("a", "F64", "", "0,8") +
                       "," + entry("b", "U8", "2,1", "8,10") + "}";
  header.append((8 - header.size() % 8) % 8, ' ');
  Bytes expected = file_of(header);
  expected.insert(expected.end(), values.begin(), values.end());
  expected.insert(expected.end(), {1, 2});
  EXPECT_TRUE(std::ranges::equal(bytes, as_span(expected)));
}

TEST(WriteSafetensors, WritesAFileWithoutTensors) {
  const Bytes expected = file_of("{}      ");
  EXPECT_TRUE(std::ranges::equal(encode_safetensors({}), as_span(expected)));
}

TEST(WriteSafetensors, TheOrderOfTheInputDoesNotMatter) {
  const TempFolder folder;
  Sample sample;
  const auto once = encode_safetensors(sample.tensors, sample.metadata);
  write_safetensors(folder.path() / "a", sample.tensors, sample.metadata);
  std::ranges::reverse(sample.tensors);
  EXPECT_EQ(encode_safetensors(sample.tensors, sample.metadata), once);
  write_safetensors(folder.path() / "b", sample.tensors, sample.metadata);
  EXPECT_EQ(contents_of(folder.path() / "a"), contents_of(folder.path() / "b"));
  const Bytes written = contents_of(folder.path() / "a");
  EXPECT_TRUE(std::ranges::equal(as_span(written), once));
}

TEST(WriteSafetensors, EveryTensorIsAligned) {
  const Sample sample;
  const auto bytes = encode_safetensors(sample.tensors, {{"k", "odd length"}});
  const auto file = parse_safetensors(bytes, "aligned");
  for (const TensorView& tensor : file.tensors()) {
    const auto place = static_cast<std::size_t>(tensor.bytes.data() - bytes.data());
    EXPECT_EQ(place % dtype_bytes(tensor.dtype), 0U) << tensor.name;
  }
}

TEST(WriteSafetensors, RefusesWhatCannotBeReadAgain) {
  const Bytes values(8);
  const auto expected = [&](const TensorView& tensor, const SafetensorsMetadata& metadata = {}) {
    const TempFolder folder;
    const auto details = error_of(
        [&] { write_safetensors(folder.path() / "a", std::vector<TensorView>{tensor}, metadata); });
    EXPECT_TRUE(fs::is_empty(folder.path()));
    EXPECT_EQ(details.path, (folder.path() / "a").string());
    EXPECT_FALSE(details.hint.empty());
    return details.expected;
  };
  const auto bytes = as_span(values);
  EXPECT_THAT(expected({"", DType::kU8, {8}, bytes}), HasSubstr("tensors with names"));
  EXPECT_THAT(expected({"__metadata__", DType::kU8, {8}, bytes}), HasSubstr("tensors with names"));
  EXPECT_EQ(expected({"w", DType::kF32, {3}, bytes}),
            "12 bytes for tensor \"w\" of F32 and shape [3]");
  EXPECT_THAT(expected({"w", DType::kU8, {-8}, bytes}), HasSubstr("shape [-8]"));
  EXPECT_THAT(expected({"w", DType::kU8, std::vector<std::int64_t>(65, 1), bytes.first(1)}),
              HasSubstr("at most 64 dimensions"));
  const TensorView good{"w", DType::kU8, {8}, bytes};
  EXPECT_THAT(expected({"\xFF", DType::kU8, {8}, bytes}), HasSubstr("UTF-8"));
  EXPECT_THAT(expected(good, {{"\xC3", ""}}), HasSubstr("UTF-8"));
  EXPECT_THAT(expected(good, {{"k", "\xED\xA0\x80"}}), HasSubstr("UTF-8"));
  EXPECT_THAT(expected(good, {{"k", std::string(100'000'001, 'x')}}), HasSubstr("a header of"));
  const std::vector<TensorView> twice{good, good};
  EXPECT_EQ(error_of([&] { (void)encode_safetensors(twice); }).expected, "each name once");
}

TEST(WriteSafetensors, ReplacesAFileThatIsBeingRead) {
  const TempFolder folder;
  const fs::path path = folder.path() / "a";
  const Sample sample;
  write_safetensors(path, sample.tensors, sample.metadata);
  const SafetensorsFile file(path);
  write_safetensors(path, file.tensors(), {{"step", "2"}});
  expect_same(file, sample.tensors);
  const SafetensorsFile again(path);
  expect_same(again, sample.tensors);
  EXPECT_THAT(again.metadata(), ElementsAre(Pair("step", "2")));
}

// A file size limit stops the new file half-way, as a disk that fills up does.
TEST(WriteSafetensors, AFullDiskKeepsTheOldFile) {
  const TempFolder folder;
  const fs::path path = folder.path() / "a";
  const Sample sample;
  write_safetensors(path, sample.tensors, sample.metadata);
  const Bytes values(100'000);
  const std::vector<TensorView> large{{"w", DType::kU8, {100'000}, as_span(values)}};
  const ErrorDetails details = error_of([&] {
    const FileSizeLimit limit(4096);
    write_safetensors(path, large);
  });
  EXPECT_EQ(details.what, "cannot write the safetensors file");
  EXPECT_EQ(details.path, path.string());
  EXPECT_EQ(details.found, "File too large");
  expect_same(SafetensorsFile(path), sample.tensors);
  EXPECT_EQ(entries_in(folder.path()), 1);
}

}  // namespace
}  // namespace stoker
