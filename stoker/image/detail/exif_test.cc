#include "stoker/image/detail/exif.h"

#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker::detail {
namespace {

// A block whose only entry is `tag` with one 16-bit value, in either byte order.
Bytes block(bool little, std::uint16_t tag, std::uint16_t value, std::uint16_t type = 3) {
  Bytes bytes;
  const auto put = [&bytes, little](std::uint32_t number, int size) {
    for (int i = 0; i < size; ++i) {
      const int shift = 8 * (little ? i : size - 1 - i);
      bytes.push_back(static_cast<std::uint8_t>(number >> shift));
    }
  };
  bytes = little ? Bytes{'I', 'I'} : Bytes{'M', 'M'};
  put(42, 2);
  put(8, 4);  // the directory follows
  put(1, 2);
  put(tag, 2);
  put(type, 2);
  put(1, 4);
  put(value, type == 4 ? 4 : 2);
  if (type != 4) put(0, 2);
  return bytes;
}

TEST(ExifOrientation, ReadsAllEightInBothByteOrders) {
  for (const bool little : {false, true}) {
    for (std::uint16_t value = 1; value <= 8; ++value) {
      EXPECT_EQ(exif_orientation(as_span(block(little, 0x0112, value))), value);
      EXPECT_EQ(exif_orientation(as_span(block(little, 0x0112, value, 4))), value);
    }
  }
}

TEST(ExifOrientation, TakesThePrefixOfJpeg) {
  Bytes bytes = block(true, 0x0112, 6);
  bytes.insert(bytes.begin(), {'E', 'x', 'i', 'f', 0, 0});
  EXPECT_EQ(exif_orientation(as_span(bytes)), 6);
}

TEST(ExifOrientation, IsOneWhereNothingValidIsSaid) {
  EXPECT_EQ(exif_orientation({}), 1);
  EXPECT_EQ(exif_orientation(as_span(block(true, 0x0112, 0))), 1);
  EXPECT_EQ(exif_orientation(as_span(block(true, 0x0112, 9))), 1);
  EXPECT_EQ(exif_orientation(as_span(block(true, 0x0113, 6))), 1);
  EXPECT_EQ(exif_orientation(as_span(block(true, 0x0112, 6, 2))), 1) << "a text is no number";
}

TEST(ExifOrientation, IsOneWhereTheBlockIsCut) {
  const Bytes whole = block(false, 0x0112, 6);
  for (std::size_t size = 0; size < whole.size() - 2; ++size) {
    const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(exif_orientation(as_span(part)), 1) << size;
  }
}

TEST(ExifOrientation, SurvivesEveryValueOfEveryByte) {
  for (const bool little : {false, true}) {
    const Bytes whole = block(little, 0x0112, 6);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      for (int value = 0; value < 256; ++value) {
        Bytes bytes = whole;
        bytes[i] = static_cast<std::uint8_t>(value);
        const int found = exif_orientation(as_span(bytes));
        EXPECT_TRUE(found >= 1 && found <= 8) << found;
      }
    }
  }
}

}  // namespace
}  // namespace stoker::detail
