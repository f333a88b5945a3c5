// Every check of the reader, each with a file made by hand to break it.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"
#include "stoker/io/safetensors.h"
#include "stoker/io/test_safetensors.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

ErrorDetails refusal(const Bytes& bytes) {
  return error_of([&] { (void)parse_safetensors(as_span(bytes), "bad.safetensors"); });
}

ErrorDetails refusal(const std::string& header, std::size_t values = 0) {
  const auto details = refusal(file_of(header, values));
  EXPECT_EQ(details.path, "bad.safetensors") << header;
  EXPECT_TRUE(details.offset.has_value()) << header;
  EXPECT_LE(details.offset.value_or(0), 8 + header.size() + values) << header;
  EXPECT_FALSE(details.expected.empty()) << header;
  EXPECT_FALSE(details.found.empty()) << header;
  EXPECT_FALSE(details.hint.empty()) << header;
  return details;
}

TEST(SafetensorsChecks, ATruncatedFileIsRefusedAtEveryLength) {
  const Sample sample;
  const std::vector<std::byte> whole = encode_safetensors(sample.tensors, sample.metadata);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // A copy of exactly this size, so that the sanitizer sees a read past the end.
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + size);
    const auto details = error_of([&] { (void)parse_safetensors(cut, "cut"); });
    EXPECT_THAT(details.hint, HasSubstr("cut short")) << size << " " << to_string(details);
  }
  (void)parse_safetensors(whole, "whole");
}

TEST(SafetensorsChecks, AFlippedBitNeverPassesTheChecksUnseenInTheLayout) {
  const Sample sample;
  const std::vector<std::byte> whole = encode_safetensors(sample.tensors, sample.metadata);
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::vector<std::byte> flipped = whole;
    flipped[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
    try {
      const auto file = parse_safetensors(flipped, "flipped");
      std::size_t covered = 0;
      for (const TensorView& tensor : file.tensors()) {
        EXPECT_EQ(tensor_bytes(tensor.dtype, tensor.shape), tensor.bytes.size());
        covered += tensor.bytes.size();
      }
      EXPECT_LT(covered, whole.size());
    } catch (const Error&) {  // most are
    }
  }
}

TEST(SafetensorsChecks, HeaderLength) {
  Bytes bytes = file_of("{}");
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{100'000'001},
                                     std::numeric_limits<std::uint64_t>::max()}) {
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(length >> (8 * i));
    const auto details = refusal(bytes);
    EXPECT_EQ(details.offset, 0U);
    EXPECT_EQ(details.expected, "a header of 2 to 100000000 bytes");
    EXPECT_EQ(details.found, fmt::format("{}", length));
    EXPECT_THAT(details.hint, HasSubstr("safetensors"));
  }
  for (const std::uint64_t length : {std::uint64_t{3}, std::uint64_t{100'000'000}}) {
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(length >> (8 * i));
    const auto details = refusal(bytes);
    EXPECT_EQ(details.expected, fmt::format("a header of {} bytes", length));
    EXPECT_THAT(details.found, HasSubstr("after 2"));
  }
}

TEST(SafetensorsChecks, TheHeaderBeginsWithABrace) {
  for (const char* header : {" {}", "[]", "\"a\"", "12", "\xEF\xBB\xBF{}"}) {
    const auto details = refusal(header);
    EXPECT_EQ(details.offset, 8U) << header;
    EXPECT_EQ(details.expected, "a header that begins with {") << header;
  }
}

TEST(SafetensorsChecks, TheHeaderIsJson) {
  for (const char* header : {"{a", "{}}", "{} x", "{,}", "{\"a\":}", "{\"a\" 1}", "{/**/}",
                             "{\"a\":nan}", "{\"a\":{\"shape\":[1e999]}}", "{\"a", "{{}}"}) {
    const auto details = refusal(header);
    EXPECT_EQ(details.expected.rfind("JSON", 0), 0U) << header << to_string(details);
  }
}

TEST(SafetensorsChecks, AZeroByteDoesNotEndTheHeader) {
  const auto details = refusal(std::string("{}\0{\"a\":1}", 10));
  EXPECT_EQ(details.offset, 10U);
  EXPECT_EQ(details.found, "a zero byte");
  EXPECT_EQ(refusal(std::string("{}\0", 3)).found, "a zero byte");
}

TEST(SafetensorsChecks, TextIsUtf8) {
  const std::vector<std::string> bad{"\xFF",           "\xC0\x80",         "\xE4",
                                     "\xED\xA0\x80",   "\xF5\x80\x80\x80", R"(\ud800)",
                                     R"(\udc00\ud800)"};
  for (const std::string& text : bad) {
    EXPECT_EQ(refusal("{" + entry(text, "U8", "1", "0,1") + "}", 1).expected, "JSON");
    EXPECT_EQ(refusal("{\"__metadata__\":{\"a\":\"" + text + "\"}}").expected, "JSON");
  }
}

TEST(SafetensorsChecks, MessagesCarryNoControlCharacters) {
  const auto details = refusal("{" + entry("\\u001b[31m\\n\xC3\xA4", "X\\u0007", "1", "0,1") + "}");
  const std::string text = to_string(details);
  EXPECT_TRUE(std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7F; })) << text;
  EXPECT_LT(to_string(refusal("{\"" + std::string(100'000, 'a') + "\":1}")).size(), 1000U);
  EXPECT_LT(to_string(refusal("{\"" + std::string(100'000, 'a'))).size(), 1000U);
}

TEST(SafetensorsChecks, NoKeyComesTwice) {
  const std::string a = entry("a", "U8", "1", "0,1");
  EXPECT_THAT(refusal("{" + a + "," + entry("a", "U8", "1", "1,2") + "}", 2).found,
              HasSubstr("tensor \"a\" a second time"));
  EXPECT_THAT(refusal("{" + a + "," + a + "}", 1).expected, HasSubstr("each key once"));
  EXPECT_THAT(
      refusal("{" + a + R"(,"\u0061":{"dtype":"U8","shape":[0],"data_offsets":[1,1]}})", 1).found,
      HasSubstr("a second time"));
  EXPECT_THAT(refusal(R"({"__metadata__":{},"__metadata__":{}})").found,
              HasSubstr("__metadata__ a second time"));
  EXPECT_THAT(refusal(R"({"__metadata__":{"k":"1","j":"2","k":"1"}})").found,
              HasSubstr("\"k\" a second time"));
  for (const char* field : {R"("dtype":"U8")", R"("shape":[1])", R"("data_offsets":[0,1])"}) {
    const std::string header =
        fmt::format(R"({{"a":{{{},"dtype":"U8","shape":[1],"data_offsets":[0,1]}}}})", field);
    EXPECT_THAT(refusal(header, 1).found, HasSubstr("a second time")) << header;
  }
}

TEST(SafetensorsChecks, MetadataIsStrings) {
  for (const char* value : {"1", "-1", "1.5", "null", "true", "[]", "[\"a\"]"}) {
    EXPECT_EQ(refusal(fmt::format(R"({{"__metadata__":{{"k":{}}}}})", value)).expected,
              "a string as metadata \"k\"")
        << value;
    EXPECT_EQ(refusal(fmt::format(R"({{"__metadata__":{}}})", value)).expected,
              "an object of strings as __metadata__")
        << value;
  }
  EXPECT_EQ(refusal(R"({"__metadata__":{"k":{}}})").found, "an object");
  EXPECT_EQ(refusal(R"({"__metadata__":"k"})").found, "the string \"k\"");
}

TEST(SafetensorsChecks, NestingIsRefusedAtTheFirstLevelTooMany) {
  const std::string deep(1'000'000, '['), objects = [] {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += "{\"a\":";
    return text;
  }();
  EXPECT_LT(*refusal("{\"a\":" + deep).offset, 20U);
  EXPECT_LT(*refusal(R"({"a":{"shape":)" + deep).offset, 30U);
  EXPECT_LT(*refusal(R"({"__metadata__":{"a":)" + deep).offset, 40U);
  EXPECT_LT(*refusal(objects).offset, 40U);
}

TEST(SafetensorsChecks, ATensorIsAnObjectOfThreeFields) {
  for (const char* value : {"1", "null", "\"F32\"", "[]", "false"}) {
    EXPECT_THAT(refusal(fmt::format(R"({{"w":{}}})", value)).expected,
                AllOf(HasSubstr("an object"), HasSubstr("\"w\"")))
        << value;
  }
  const std::string dtype = R"("dtype":"U8")", shape = R"("shape":[0])",
                    offsets = R"("data_offsets":[0,0])";
  const auto tensor = [](const std::string& fields) { return "{\"w\":{" + fields + "}}"; };
  EXPECT_EQ(refusal(tensor("")).found, "no dtype");
  EXPECT_EQ(refusal(tensor(dtype + "," + offsets)).found, "no shape");
  EXPECT_EQ(refusal(tensor(shape + "," + offsets)).found, "no dtype");
  EXPECT_EQ(refusal(tensor(shape + "," + dtype)).found, "no data_offsets");
  const auto extra = refusal(tensor(dtype + R"(,"strides":[1])"));
  EXPECT_EQ(extra.expected, "dtype, shape or data_offsets in tensor \"w\"");
  EXPECT_EQ(extra.found, "\"strides\"");
  const Bytes any_order = file_of(tensor(offsets + "," + shape + "," + dtype));
  const auto file = parse_safetensors(as_span(any_order), "any order");
  EXPECT_EQ(file.tensors().size(), 1U);
}

TEST(SafetensorsChecks, NamesAreNotEmpty) {
  EXPECT_EQ(refusal("{" + entry("", "U8", "1", "0,1") + "}", 1).found, "an empty name");
}

TEST(SafetensorsChecks, AnUnknownDTypeIsRefusedByName) {
  for (const char* dtype : {"F8_E4M3", "U16", "C64", "f32", "", "object"}) {
    const auto details = refusal("{" + entry("w", dtype, "1", "0,1") + "}", 1);
    EXPECT_EQ(details.found, fmt::format("\"{}\"", dtype));
    EXPECT_THAT(details.expected, AllOf(HasSubstr("BF16"), HasSubstr("\"w\"")));
  }
  EXPECT_THAT(refusal(R"({"w":{"dtype":4}})").expected, HasSubstr("the dtype of tensor \"w\""));
  EXPECT_THAT(refusal(R"({"w":{"dtype":["F32"]}})").found, "an array");
}

TEST(SafetensorsChecks, ShapesAreWholeNumbers) {
  for (const char* size : {"-1", "-0", "1.0", "1e2", "\"1\"", "null", "true", "[1]", "{}",
                           "9223372036854775808", "18446744073709551616"}) {
    const auto details = refusal("{" + entry("w", "U8", size, "0,1") + "}", 1);
    EXPECT_THAT(details.expected, HasSubstr("the shape of tensor \"w\"")) << size;
  }
  EXPECT_THAT(refusal(R"({"w":{"shape":4}})").expected, HasSubstr("an array: the shape"));
  EXPECT_THAT(refusal(R"({"w":{"shape":"4"}})").expected, HasSubstr("an array: the shape"));
}

TEST(SafetensorsChecks, DimensionsAreBounded) {
  const auto header = [](std::size_t dimensions) {
    std::string shape = "1";
    for (std::size_t i = 1; i < dimensions; ++i) shape += ",1";
    return "{" + entry("w", "U8", shape, "0,1") + "}";
  };
  const Bytes most = file_of(header(64), 1);
  const auto file = parse_safetensors(as_span(most), "most");
  EXPECT_EQ(file.tensors()[0].shape.size(), 64U);
  EXPECT_THAT(refusal(header(65), 1).expected, HasSubstr("at most 64 dimensions"));
}

TEST(SafetensorsChecks, ShapeAndBytesAgree) {
  const auto expected = [](const char* dtype, const char* shape, const char* offsets) {
    const auto details = refusal("{" + entry("w", dtype, shape, offsets) + "}", 8);
    EXPECT_THAT(details.found, HasSubstr("data_offsets"));
    return details.expected;
  };
  EXPECT_EQ(expected("F32", "3", "0,8"), "12 bytes for tensor \"w\" of F32 and shape [3]");
  EXPECT_EQ(expected("F32", "", "0,8"), "4 bytes for tensor \"w\" of F32 and shape []");
  EXPECT_EQ(expected("F32", "0", "0,8"), "0 bytes for tensor \"w\" of F32 and shape [0]");
  EXPECT_EQ(expected("I16", "1, 3", "0,8"), "6 bytes for tensor \"w\" of I16 and shape [1, 3]");
  // Products that are 8 or 0 again after wrapping round.
  for (const char* shape :
       {"4611686018427387904,4,2", "4294967296,4294967296", "9223372036854775807,2",
        "9223372036854775807,9223372036854775807,9223372036854775807", "2305843009213693953,8",
        "0,9223372036854775807,9223372036854775807"}) {
    EXPECT_THAT(expected("U8", shape, "0,8"), HasSubstr("less than 2^63 bytes")) << shape;
    EXPECT_THAT(expected("U8", shape, "0,0"), HasSubstr("less than 2^63 bytes")) << shape;
  }
}

TEST(SafetensorsChecks, OffsetsAreTwoWholeNumbersInsideTheBuffer) {
  for (const char* offsets : {"-1,0", "0,-1", "0", "", "0,1,2", "0.0,1", "null,1", "\"0\",1",
                              "[0],1", "0,18446744073709551616", "false,true"}) {
    const auto details = refusal("{" + entry("w", "U8", "1", offsets) + "}", 1);
    EXPECT_THAT(details.expected, HasSubstr("the data_offsets of tensor \"w\"")) << offsets;
  }
  for (const char* offsets : {"0,9", "8,9", "9,9", "1,0", "18446744073709551615,0",
                              "18446744073709551608,18446744073709551615"}) {
    const auto details = refusal("{" + entry("w", "U8", "1", offsets) + "}", 8);
    EXPECT_EQ(details.expected, "the values of tensor \"w\" inside the 8 bytes after the header");
  }
}

TEST(SafetensorsChecks, TensorsDoNotOverlap) {
  const auto found = [](const std::string& a, const std::string& b) {
    return refusal("{" + a + "," + b + "}", 8).found;
  };
  const std::string whole = entry("a", "U8", "8", "0,8");
  EXPECT_THAT(found(whole, entry("b", "U8", "8", "0,8")), HasSubstr("overlaps"));
  EXPECT_THAT(found(whole, entry("b", "U8", "1", "7,8")), HasSubstr("overlaps"));
  EXPECT_THAT(found(entry("b", "U8", "5", "3,8"), entry("a", "U8", "4", "0,4")),
              HasSubstr("overlaps"));
  EXPECT_THAT(found(whole, entry("b", "U8", "0", "4,4")), HasSubstr("overlaps"));
}

TEST(SafetensorsChecks, NoByteIsLeftOver) {
  EXPECT_THAT(refusal("{" + entry("a", "U8", "7", "1,8") + "}", 8).found, HasSubstr("a hole"));
  EXPECT_THAT(
      refusal("{" + entry("a", "U8", "2", "0,2") + "," + entry("b", "U8", "5", "3,8") + "}", 8)
          .found,
      HasSubstr("a hole"));
  const std::string header = "{" + entry("a", "U8", "7", "0,7") + "}";
  const auto after = refusal(header, 8);
  EXPECT_EQ(after.found, "1 more bytes");
  EXPECT_EQ(after.offset, 8 + header.size() + 7);
  EXPECT_EQ(refusal("{}", 3).found, "3 more bytes");
}

}  // namespace
}  // namespace stoker
