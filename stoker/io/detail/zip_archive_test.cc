#include "stoker/io/detail/zip_archive.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"
#include "stoker/io/test_torch_files.h"

namespace stoker::detail {
namespace {

using pickles::bytes_of;
using pickles::little_endian;
using ::testing::HasSubstr;

const std::vector<std::pair<std::string, std::string>> kRecords = {
    {"a/first", "12345"}, {"a/empty", ""}, {"a/data/0", std::string(100, 'x')}};

Bytes packed(std::uint64_t zip64_from) {
  std::vector<ZipInput> inputs;
  for (const auto& [name, content] : kRecords) {
    inputs.push_back({.name = name, .bytes = std::as_bytes(std::span(content))});
  }
  const ZipLayout layout = lay_out_zip(inputs, zip64_from);
  std::string out;
  for (std::size_t i = 0; i < kRecords.size(); ++i) out += layout.headers[i] + kRecords[i].second;
  return bytes_of(out + layout.directory);
}

Bytes packed() { return packed(0xFFFF'FFFF); }

ErrorDetails refusal(const Bytes& bytes) {
  const auto details = error_of([&] { const ZipArchive zip(as_span(bytes), "bad.zip"); });
  EXPECT_LE(details.offset.value_or(UINT64_MAX), bytes.size());
  EXPECT_FALSE(details.hint.empty());
  return details;
}

// Where the n-th occurrence of a signature is, counted from 0.
std::size_t place(const Bytes& bytes, const std::string& signature, int n = 0) {
  const std::string text(bytes.begin(), bytes.end());
  std::size_t at = text.find(signature);
  while (n-- > 0) at = text.find(signature, at + 1);
  return at;
}
const std::string kLocal = "PK\3\4", kCentral = "PK\1\2", kEnd = "PK\5\6", kEnd64 = "PK\6\6",
                  kLocator = "PK\6\7";

Bytes changed(Bytes bytes, std::size_t at, std::uint64_t value, int count) {
  for (const char c : little_endian(value, count)) bytes.at(at++) = static_cast<std::uint8_t>(c);
  return bytes;
}

TEST(ZipArchive, ReadsWhatItWrites) {
  // Sizes in 32 bits, all in 64, and some in 64.
  for (const std::uint64_t zip64_from : {0xFFFF'FFFFULL, 0ULL, 50ULL, 150ULL}) {
    const Bytes bytes = packed(zip64_from);
    const ZipArchive zip(as_span(bytes), "f");
    ASSERT_EQ(zip.records().size(), kRecords.size());
    for (const auto& [name, content] : kRecords) {
      const ZipRecord* record = zip.find(name);
      ASSERT_NE(record, nullptr);
      EXPECT_EQ(
          std::string(reinterpret_cast<const char*>(record->bytes.data()), record->bytes.size()),
          content);
      EXPECT_EQ((record->bytes.data() - as_span(bytes).data()) % 64, 0);
      EXPECT_NO_THROW(check_zip_record(*record, as_span(bytes), "f"));
    }
    EXPECT_EQ(zip.find("a/firs"), nullptr);
    EXPECT_EQ(zip.find("b"), nullptr);
  }
}

TEST(ZipArchive, TheSameRecordsMakeTheSameBytes) { EXPECT_EQ(packed(), packed()); }

TEST(ZipArchive, ReadsAnArchiveWithACommentBehind) {
  Bytes bytes = changed(packed(), packed().size() - 2, 5, 2);
  for (const char c : {'h', 'e', 'l', 'l', 'o'}) bytes.push_back(static_cast<std::uint8_t>(c));
  EXPECT_EQ(ZipArchive(as_span(bytes), "f").records().size(), kRecords.size());
  bytes.pop_back();
  EXPECT_EQ(refusal(bytes).expected, "the end of a zip archive");
}

TEST(ZipArchive, ReadsAnArchiveWithoutRecords) {
  const Bytes bytes = bytes_of(lay_out_zip({}).directory);
  EXPECT_TRUE(ZipArchive(as_span(bytes), "f").records().empty());
}

TEST(ZipArchive, ACutArchiveIsRefusedAtEveryLength) {
  for (const Bytes& whole : {packed(), packed(0)}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_FALSE(refusal(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)))
                       .expected.empty());
    }
  }
}

TEST(ZipArchive, AFlippedBitNeverReachesBeyondTheFile) {
  for (const Bytes& whole : {packed(), packed(0)}) {
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      Bytes flipped = whole;
      flipped[bit / 8] = static_cast<std::uint8_t>(flipped[bit / 8] ^ 1U << bit % 8);
      try {
        const ZipArchive zip(as_span(flipped), "flipped");
        std::size_t covered = 0;
        for (const ZipRecord& record : zip.records()) covered += record.bytes.size();
        EXPECT_LT(covered, whole.size());
      } catch (const Error&) {  // most are
      }
    }
  }
}

TEST(ZipArchive, ACompressedRecordIsRefusedByName) {
  const Bytes bytes = changed(packed(), place(packed(), kCentral) + 10, 8, 2);
  EXPECT_EQ(refusal(bytes).found, "\"a/first\" compressed");
  // A bomb says that it becomes large.
  const Bytes bomb = changed(packed(), place(packed(), kCentral) + 24, 0xFFFF'FFF0, 4);
  EXPECT_EQ(refusal(bomb).found, "\"a/first\" compressed");
  const Bytes hidden = changed(packed(), place(packed(), kLocal) + 8, 8, 2);
  EXPECT_THAT(refusal(hidden).found, HasSubstr("another size or method"));
}

TEST(ZipArchive, AnEncryptedRecordIsRefusedByName) {
  const Bytes bytes = changed(packed(), place(packed(), kCentral) + 8, 1, 2);
  EXPECT_EQ(refusal(bytes).expected, "records that are not encrypted");
}

TEST(ZipArchive, RecordsDoNotOverlap) {
  const Bytes bytes = packed();
  const std::size_t first = place(bytes, kCentral), second = place(bytes, kCentral, 1);
  // The first reaches into the second's header.
  Bytes longer = changed(bytes, first + 20, 40, 4);
  longer = changed(longer, first + 24, 40, 4);
  longer = changed(longer, place(bytes, kLocal) + 22, 40, 4);
  EXPECT_THAT(refusal(longer).found, HasSubstr("overlap"));
  // The second into the third's.
  longer = changed(bytes, second + 20, 40, 4);
  longer = changed(longer, second + 24, 40, 4);
  longer = changed(longer, place(bytes, kLocal, 1) + 22, 40, 4);
  EXPECT_THAT(refusal(longer).found, HasSubstr("overlap"));
  // Two entries of the directory for one record, also by another name in its own header.
  const Bytes same = changed(bytes, second + 42, 0, 4);
  EXPECT_EQ(refusal(same).expected, "the header of \"a/empty\"");
  const std::string twice(bytes.begin() + static_cast<std::ptrdiff_t>(first),
                          bytes.begin() + static_cast<std::ptrdiff_t>(second));
  Bytes doubled = bytes;
  doubled.insert(doubled.begin() + static_cast<std::ptrdiff_t>(second), twice.begin(), twice.end());
  const std::size_t end = place(doubled, kEnd);
  doubled = changed(doubled, end + 10, 4, 2);
  doubled = changed(doubled, end + 12, end - first, 4);
  EXPECT_THAT(refusal(doubled).found, HasSubstr("overlap"));
}

TEST(ZipArchive, RecordsLieInFrontOfTheDirectory) {
  const Bytes bytes = packed();
  const std::size_t last = place(bytes, kCentral, 2), local = place(bytes, kLocal, 2);
  for (const std::uint64_t size : {101ULL, 0x7FFF'FFFFULL, 0xFFFF'FFFEULL}) {
    Bytes longer = changed(bytes, last + 20, size, 4);
    longer = changed(longer, last + 24, size, 4);
    longer = changed(longer, local + 22, size, 4);
    EXPECT_THAT(refusal(longer).expected, HasSubstr("in front of the directory"));
  }
  EXPECT_THAT(refusal(changed(bytes, last + 42, 0xFFFF'FFF0, 4)).found,
              HasSubstr("beyond the end"));
}

TEST(ZipArchive, Sizes64BitsWideAreCheckedToo) {
  const Bytes bytes = packed(0);
  const std::size_t entry = place(bytes, kCentral, 2);
  const std::size_t wide = entry + 46 + std::string("a/data/0").size() + 4;
  for (const std::uint64_t value : {UINT64_MAX, UINT64_MAX - 63, std::uint64_t{1} << 62}) {
    Bytes large = changed(bytes, wide, value, 8);
    large = changed(large, wide + 8, value, 8);
    EXPECT_THAT(refusal(large).expected, HasSubstr("in front of the directory"));
    EXPECT_THAT(refusal(changed(bytes, wide + 16, value, 8)).found, HasSubstr("beyond the end"));
    EXPECT_FALSE(refusal(changed(bytes, place(bytes, kLocator) + 8, value, 8)).expected.empty());
    for (const std::size_t field : {32U, 40U, 48U}) {
      EXPECT_FALSE(
          refusal(changed(bytes, place(bytes, kEnd64) + field, value, 8)).expected.empty());
    }
  }
  // A size of 64 bits that is not there: the field's number changed.
  EXPECT_THAT(refusal(changed(bytes, wide - 4, 7, 2)).expected, HasSubstr("64 bits"));
}

TEST(ZipArchive, TheDirectoryFitsItsNumbers) {
  const Bytes bytes = packed();
  const std::size_t end = place(bytes, kEnd);
  EXPECT_THAT(refusal(changed(bytes, end + 10, 0xFFFE, 2)).expected, HasSubstr("directory of"));
  EXPECT_THAT(refusal(changed(bytes, end + 10, 2, 2)).expected, HasSubstr("directory's end"));
  EXPECT_FALSE(refusal(changed(bytes, end + 10, 4, 2)).expected.empty());
  EXPECT_THAT(refusal(changed(bytes, end + 12, 0xFFFF'FFF0, 4)).expected,
              HasSubstr("in front of the end record"));
  EXPECT_THAT(refusal(changed(bytes, end + 16, 0xFFFF'FFF0, 4)).expected,
              HasSubstr("in front of the end record"));
  EXPECT_FALSE(refusal(changed(bytes, end + 16, 0, 4)).expected.empty());
  EXPECT_THAT(refusal(changed(bytes, end + 4, 1, 2)).expected, HasSubstr("in one file"));
  EXPECT_THAT(refusal(changed(bytes, end + 10, 0xFFFF, 2)).expected, HasSubstr("zip64 locator"));
}

TEST(ZipArchive, NoNameComesTwice) {
  std::vector<std::pair<std::string, std::string>> records = {{"a", "1"}, {"b", "2"}, {"a", "3"}};
  EXPECT_EQ(refusal(pickles::zip_of(records)).found, "\"a\" twice");
}

TEST(ZipArchive, AWrongChecksumIsFoundAndNoneIsNotChecked) {
  const Bytes bytes = changed(packed(), place(packed(), kCentral) + 16, 0x12345678, 4);
  const ZipArchive zip(as_span(bytes), "f");
  EXPECT_THAT(message_of([&] { check_zip_record(*zip.find("a/first"), as_span(bytes), "f"); }),
              HasSubstr("checksum 12345678"));
  const Bytes without = changed(packed(), place(packed(), kCentral) + 16, 0, 4);
  const ZipArchive unchecked(as_span(without), "f");
  EXPECT_NO_THROW(check_zip_record(*unchecked.find("a/first"), as_span(without), "f"));
}

}  // namespace
}  // namespace stoker::detail
