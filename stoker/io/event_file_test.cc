#include "stoker/io/event_file.h"

#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

std::string content_of(const std::filesystem::path& path) {
  const Bytes bytes = contents_of(path);
  return {bytes.begin(), bytes.end()};
}

std::uint64_t number_at(const std::string& bytes, std::size_t at, int size) {
  std::uint64_t number = 0;
  for (int i = 0; i < size; ++i) {
    number |= std::uint64_t{static_cast<unsigned char>(bytes.at(at + static_cast<std::size_t>(i)))}
              << (8 * i);
  }
  return number;
}

// The records of a file whose checksums are all right.
std::vector<std::string> records_of(const std::string& bytes) {
  std::vector<std::string> records;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::uint64_t length = number_at(bytes, at, 8);
    EXPECT_EQ(number_at(bytes, at + 8, 4), detail::masked_crc(bytes.substr(at, 8)));
    records.push_back(bytes.substr(at + 12, length));
    EXPECT_EQ(number_at(bytes, at + 12 + length, 4), detail::masked_crc(records.back()));
    at += 12 + length + 4;
  }
  return records;
}

TEST(MaskedCrc, IsThatOfKnownTexts) {
  // CRC-32C of "123456789" is 0xE3069283, of nothing 0.
  EXPECT_EQ(detail::masked_crc(""), 0xA282EAD8U);
  const std::uint32_t crc = 0xE3069283U;
  EXPECT_EQ(detail::masked_crc("123456789"), (crc >> 15 | crc << 17) + 0xA282EAD8U);
}

TEST(EventFile, BeginsWithItsVersion) {
  const TempFolder folder;
  const EventFile file(folder.path(), 0);
  const auto records = records_of(content_of(file.path()));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_NE(records[0].find("brain.Event:2"), std::string::npos);
}

TEST(EventFile, EveryCallIsOneRecordInTheFileAtOnce) {
  const TempFolder folder;
  EventFile file(folder.path(), 0);
  file.add_scalar("loss/train", 7, 0.5);
  const auto records = records_of(content_of(file.path()));
  ASSERT_EQ(records.size(), 3u);
  // Tag as field 1, then the float 0.5 as field 2.
  const std::string value =
      std::string("\x0A\x0Aloss/train\x15", 13) + std::string("\0\0\0\x3F", 4);
  EXPECT_NE(records[2].find(value), std::string::npos);
}

// Behind its time, which ends at byte 9: the step as field 2, and the summary's one value.
std::string value_bytes(const std::string& record, std::int64_t step) {
  const std::string head = {0x10, static_cast<char>(step), 0x2A};  // the summary is field 5
  EXPECT_EQ(record.substr(9, 3), head);
  EXPECT_EQ(number_at(record, 12, 1), record.size() - 13);
  EXPECT_EQ(number_at(record, 13, 1), 0x0AU);
  EXPECT_EQ(number_at(record, 14, 1), record.size() - 15);
  return record.substr(15);
}

std::string bytes_of_double(double value) {
  const auto bytes = std::bit_cast<std::array<char, 8>>(value);
  return {bytes.begin(), bytes.end()};
}

// Field numbers and types as TensorBoard's summary.proto and tensor.proto have them.
TEST(EventFile, ImagesHistogramsAndTextHaveTheFieldsOfTensorBoard) {
  using namespace std::string_literals;
  const TempFolder folder;
  EventFile file(folder.path(), 5);
  const auto png = std::as_bytes(std::span("png", 3));
  file.add_image("i", 6, {.height = 2, .width = 3, .channels = 4, .png = png});
  file.add_histogram("h", 7, {1, 2, 3, 4, 5, {6}, {7}});
  file.add_text("t", 8, "*x*");
  const auto records = records_of(content_of(file.path()));
  ASSERT_EQ(records.size(), 5U);
  EXPECT_EQ(records[1].substr(9), "\x10\x05\x3A\x02\x08\x01"s);  // the session starts at step 5
  EXPECT_EQ(value_bytes(records[2], 6), "\x0A\x01i\x22\x0B\x08\x02\x10\x03\x18\x04\x22\x03png"s);
  std::string histogram = "\x0A\x01h\x2A\x41"s;
  for (const int field : {1, 2, 3, 4, 5}) {
    histogram += static_cast<char>(field << 3 | 1);
    histogram += bytes_of_double(field);
  }
  histogram += "\x32\x08"s + bytes_of_double(6) + "\x3A\x08"s + bytes_of_double(7);
  EXPECT_EQ(value_bytes(records[3], 7), histogram);
  EXPECT_EQ(value_bytes(records[4], 8),
            "\x0A\x01t\x42\x09\x08\x07\x12\x00\x42\x03*x*\x4A\x08\x0A\x06\x0A\x04text"s);
}

TEST(EventFile, IsClosedWithTheObject) {
  const TempFolder folder;
  const int before = entries_in("/proc/self/fd");
  { const EventFile file(folder.path(), 0); }
  EXPECT_EQ(entries_in("/proc/self/fd"), before);
}

TEST(EventFile, SaysWhereItCannotWrite) {
  const std::string message = message_of([] { const EventFile file("/nowhere/at/all", 0); });
  EXPECT_NE(message.find("cannot write the event file: /nowhere/at/all/"), std::string::npos);
}

// A file size limit stops the file between two records, as a disk that fills up does.
TEST(EventFile, SaysThatTheDiskIsFull) {
  const TempFolder folder;
  EventFile file(folder.path(), 0);
  const std::string before = content_of(file.path());
  const ErrorDetails error = error_of([&] {
    const FileSizeLimit limit(before.size());
    file.add_scalar("loss/train", 7, 0.5);
  });
  EXPECT_EQ(error.what, "cannot write the event file");
  EXPECT_EQ(error.path, file.path().string());
  EXPECT_EQ(error.found, "File too large");
  EXPECT_EQ(content_of(file.path()), before);
}

TEST(EventHistogram, CountsEveryFiniteValueOnce) {
  const std::vector<float> values = {-1, 0, 0.5F, 1, 3, std::nanf(""), INFINITY};
  const EventHistogram histogram = histogram_of(values, 4);
  EXPECT_EQ(histogram.limits, (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(histogram.counts, (std::vector<double>{2, 2, 0, 1}));
  EXPECT_EQ(histogram.count, 5);
  EXPECT_EQ(histogram.sum, 3.5);
  EXPECT_EQ(histogram.sum_of_squares, 1 + 0.25 + 1 + 9);
}

TEST(EventHistogram, EqualValuesShareABucket) {
  const EventHistogram histogram = histogram_of(std::vector<float>{2, 2, 2});
  EXPECT_EQ(histogram.limits, std::vector<double>{2});
  EXPECT_EQ(histogram.counts, std::vector<double>{3});
}

TEST(EventHistogram, OfNothingIsEmpty) { EXPECT_EQ(histogram_of({}).count, 0); }

}  // namespace
}  // namespace stoker
