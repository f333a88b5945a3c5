#include "stoker/data/sources/file_content.h"

#include <gtest/gtest.h>

#include "stoker/image/test_codecs.h"

namespace stoker::detail {
namespace {

std::string described(std::string_view text) {
  return describe_content(std::as_bytes(std::span(text)));
}

// Whether the file counts as cut at every length where the decoders miss its end.
void expect_cut(const Bytes& whole, ImageFormat format, std::size_t tail) {
  EXPECT_FALSE(is_cut_short(as_span(whole), format));
  for (std::size_t length = 12; length + tail < whole.size(); ++length) {
    const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    ASSERT_TRUE(is_cut_short(as_span(part), format)) << length << " of " << whole.size();
  }
}

TEST(IsCutShort, KnowsTheEndOfEachFormat) {
  expect_cut(test::make_jpeg(40, 30, {}), ImageFormat::kJpeg, 1);
  expect_cut(test::make_jpeg(40, 30, {.progressive = true}), ImageFormat::kJpeg, 1);
  expect_cut(test::make_png({.height = 30, .width = 40, .channels = 3}), ImageFormat::kPng, 8);
  expect_cut(test::make_webp(40, 30, false), ImageFormat::kWebp, 1);
}

TEST(IsCutShort, TheEndOfAnImageInsideExifIsNotTheEnd) {
  Bytes whole = test::make_jpeg(40, 30, {});
  const Bytes inner = test::make_jpeg(8, 8, {.h = 1, .v = 1});
  Bytes segment = {0xFF, 0xE1, static_cast<std::uint8_t>((inner.size() + 2) >> 8),
                   static_cast<std::uint8_t>(inner.size() + 2)};
  segment.insert(segment.end(), inner.begin(), inner.end());
  whole.insert(whole.begin() + 2, segment.begin(), segment.end());
  expect_cut(whole, ImageFormat::kJpeg, 1);
}

TEST(DescribeContent, NamesWhatPeopleSaveInPlaceOfAnImage) {
  EXPECT_EQ(described(""), "an empty file");
  EXPECT_EQ(described(std::string(100, '\0')), "zero bytes only");
  EXPECT_EQ(described("GIF89a..."), "a GIF image");
  EXPECT_EQ(described("BM6"), "a BMP image");
  EXPECT_EQ(described("P7\nWIDTH 3"), "a PAM image (P7)");
  EXPECT_EQ(described(std::string("\0\0\0\x1C"
                                  "ftypavif",
                                  12)),
            "an AVIF image");
  EXPECT_EQ(described("\n <!DOCTYPE HTML><title>404"),
            "an HTML page, such as a failed download leaves");
  EXPECT_EQ(described("version https://git-lfs.github.com/spec/v1"),
            "a Git LFS pointer instead of the file");
}

TEST(DescribeContent, SaysNothingOfUnknownBytes) {
  EXPECT_EQ(described("hello"), "");
  EXPECT_EQ(described("f"), "");
}

}  // namespace
}  // namespace stoker::detail
