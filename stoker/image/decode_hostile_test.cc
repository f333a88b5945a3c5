// Damaged files, collected and made: an image or an error, never anything else, and never more
// memory than the header of decode.h promises. What Pillow says of the same files is compared in
// tests/image_test.py.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "stoker/core/rng.h"
#include "stoker/image/test_codecs.h"
#include "stoker/image/test_golden.h"
#include "stoker/image/test_memory.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr DecodeLimits kLimits{.max_pixels = 1 << 20};
constexpr std::int64_t kMostMemory = (std::int64_t{32} << 20) + 20 * kLimits.max_pixels;
constexpr std::int64_t kMostWideMemory = (std::int64_t{32} << 20) + 40 * kLimits.max_pixels;

std::uint32_t below(Rng& rng, std::size_t bound) {
  return rng.uniform_int(static_cast<std::uint32_t>(bound));
}

Region some_region(Rng& rng, const ImageShape& shape) {
  const int width = 1 + static_cast<int>(below(rng, static_cast<std::size_t>(shape.width)));
  const int height = 1 + static_cast<int>(below(rng, static_cast<std::size_t>(shape.height)));
  return {static_cast<int>(below(rng, static_cast<std::size_t>(shape.width - width + 1))),
          static_cast<int>(below(rng, static_cast<std::size_t>(shape.height - height + 1))), width,
          height};
}

// Decodes all of it, then a region, then small: true where the file is good. Where all of it can be
// decoded, so can every part, and it is a part of the same image.
bool survives(ImageDecoder& decoder, const Bytes& bytes, Rng& rng, const std::string& what) {
  constexpr std::array<int, 3> kChannels = {1, 3, 4};
  DecodeOptions options{.channels = kChannels[below(rng, 3)], .depth = rng.bernoulli(0.5) ? 8 : 16};
  const auto whole = test::decode_or_none(decoder, bytes, options);
  if (!whole) return false;
  const Region region = some_region(rng, whole->shape());
  options.region = region;
  const auto part = test::decode_or_none(decoder, bytes, options);
  EXPECT_TRUE(part && *part == test::cut(*whole, region))
      << what << ": region " << region.left << "," << region.top << " of " << region.width << "x"
      << region.height;
  const DecodeOptions small{
      .region = region, .exact = false, .target_width = 8, .target_height = 8};
  EXPECT_TRUE(test::decode_or_none(decoder, bytes, small)) << what;
  return true;
}

// What a decoder takes for this file alone, from nothing.
std::int64_t memory_for(const Bytes& bytes, const DecodeOptions& options = {}) {
  const std::int64_t before = test::live_bytes();
  test::reset_peak();
  ImageDecoder decoder(kLimits);
  if (decoder.open(as_span(bytes))) (void)decoder.decode(options);
  return test::peak_bytes() - before;
}

std::vector<fs::path> hostile_files() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(test_data() / "hostile")) {
    if (entry.is_regular_file()) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

TEST(HostileFiles, AreImagesOrErrors) {
  STOKER_NEEDS(test_data() / "hostile");
  ImageDecoder decoder(kLimits);
  Rng rng({.seed = 5}, 0);
  int good = 0;
  for (const fs::path& path : hostile_files()) {
    good += survives(decoder, contents_of(path), rng, path.string());
  }
  EXPECT_GT(good, 200);
}

TEST(HostileFiles, TakeNoMoreMemoryThanPromised) {
  STOKER_NEEDS(test_data() / "hostile");
  std::int64_t most = 0;
  for (const fs::path& path : hostile_files()) {
    const Bytes bytes = contents_of(path);
    const std::int64_t taken = memory_for(bytes);
    EXPECT_LE(taken, kMostMemory) << path;
    most = std::max(most, taken);
  }
  RecordProperty("most_bytes", std::to_string(most));
}

TEST(DecoderMemory, StaysWithinThePromiseForTheImagesThatNeedMost) {
  for (const auto& [width, height] : {std::pair{1024, 1024}, {65500, 16}, {16, 65500}}) {
    for (const test::JpegKind& kind :
         {test::JpegKind{.channels = 4, .h = 1, .v = 1, .progressive = true},
          test::JpegKind{.h = 2, .v = 4, .progressive = true}, test::JpegKind{.h = 4, .v = 2}}) {
      EXPECT_LE(memory_for(test::make_jpeg(width, height, kind)), kMostMemory);
    }
  }
  EXPECT_LE(memory_for(test::make_png({1024, 1024, 3})), kMostMemory);
  EXPECT_LE(memory_for(test::make_webp(1024, 1024, true)), kMostMemory);
  EXPECT_LE(memory_for(test::make_webp(1024, 1024, true, 4)), kMostMemory);
  EXPECT_LE(memory_for(test::make_webp(16000, 64, false)), kMostMemory);
}

// Without a test file of that size: its header, and zeros.
Bytes with_zeros(std::string_view header, std::size_t zeros) {
  Bytes bytes(header.begin(), header.end());
  bytes.resize(bytes.size() + zeros);
  return bytes;
}

void put_little_endian(Bytes& bytes, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::uint8_t>(value >> 8 * i);
}

// One strip of all values: little-endian, with these tags and values.
Bytes make_tiff(std::vector<std::pair<std::uint16_t, std::uint32_t>> tags, std::size_t zeros) {
  Bytes bytes = with_zeros("II*", 5 + 2 + 12 * tags.size() + 4);
  bytes[4] = 8;
  bytes[8] = static_cast<std::uint8_t>(tags.size());
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const std::size_t at = 10 + 12 * i;
    bytes[at] = static_cast<std::uint8_t>(tags[i].first);
    bytes[at + 1] = static_cast<std::uint8_t>(tags[i].first >> 8);
    bytes[at + 2] = 4;  // LONG
    bytes[at + 4] = 1;
    put_little_endian(bytes, at + 8, tags[i].second);
  }
  bytes.resize(bytes.size() + zeros);
  return bytes;
}

// Width, height, compression, photometric interpretation, strip, values a pixel, rows a strip,
// bytes of the strip. Bits a value, the third, are 16.
Bytes make_wide_tiff(std::uint32_t side, std::uint32_t samples, std::uint32_t strip_bytes,
                     std::size_t zeros, std::uint32_t compression = 1) {
  return make_tiff({{256, side},
                    {257, side},
                    {258, 16},
                    {259, compression},
                    {262, 2},
                    {273, 200},
                    {277, samples},
                    {278, side},
                    {279, strip_bytes}},
                   zeros);
}

TEST(DecoderMemory, StaysWithinThePromiseForTiffBmpAndPnm) {
  constexpr std::size_t kPixels = 1 << 20;
  // PackBits' runs of 128 zeros. (Strips without compression are read in small pieces.)
  constexpr std::uint32_t kRunBytes = 12 * kPixels / 128 * 2;
  Bytes tiff = make_wide_tiff(1024, 6, kRunBytes, kRunBytes + 200, 32773);
  for (std::size_t i = 0; i < kRunBytes; i += 2) tiff[200 + i] = 0x81;
  EXPECT_GE(memory_for(tiff), 15 << 20) << "six values of 16 bits, and RGB";
  EXPECT_LE(memory_for(tiff), kMostMemory);
  Bytes runs = test::golden_file("bmp run lengths of 8");
  put_little_endian(runs, 18, 1024);
  put_little_endian(runs, 22, 1024);
  runs.resize(14 + 40 + 4 * 256);  // the headers and the palette
  for (int i = 0; i < 5; ++i) runs.insert(runs.end(), {0, 2, 0, 255});  // 255 rows on
  EXPECT_GE(memory_for(runs), 4 << 20) << "places in the palette, and RGB";
  EXPECT_LE(memory_for(runs), kMostMemory);
  const Bytes pnm = with_zeros("P6 1024 1024 65535 ", 6 * kPixels);
  EXPECT_GE(memory_for(pnm), 3 << 20);
  EXPECT_LE(memory_for(pnm), kMostMemory);
}

TEST(DecoderMemory, StaysWithinThePromiseForWideImages) {
  constexpr DecodeOptions kWide{.channels = 4, .depth = 16};
  for (const test::JpegKind& kind :
       {test::JpegKind{.channels = 4, .h = 1, .v = 1, .progressive = true},
        test::JpegKind{.h = 2, .v = 4, .progressive = true}}) {
    EXPECT_LE(memory_for(test::make_jpeg(1024, 1024, kind), kWide), kMostWideMemory);
  }
  EXPECT_LE(memory_for(test::make_webp(1024, 1024, true, 4), kWide), kMostWideMemory);
  const Bytes png = test::make_png({1024, 1024, 4, 16});
  EXPECT_GE(memory_for(png, kWide), 8 << 20);
  EXPECT_LE(memory_for(png, kWide), kMostWideMemory);
}

// Golden ones hold more of these: huge sides, tiles, palettes, numbers of tiles, loops.
TEST(DecoderMemory, IsNotTakenForWhatGoldenFilesOnlyPromise) {
  int seen = 0;
  for (const test::GoldenImage& file : test::golden_images()) {
    if (file.good()) continue;
    ++seen;
    EXPECT_LT(memory_for(file.bytes), 1 << 20) << file.name;
  }
  EXPECT_GE(seen, 35);
  // Long strips, of which nothing is there.
  for (const std::uint32_t compression : {1U, 5U, 8U, 32773U}) {
    const Bytes bytes = make_wide_tiff(1024, 3, 0xFFFFFFFF, 100, compression);
    EXPECT_LE(memory_for(bytes), kMostMemory) << compression;
  }
  EXPECT_LT(memory_for(with_zeros("P6 1024 1024 65535 ", 1000)), 1 << 20);
  EXPECT_LT(memory_for(with_zeros("P2 65000 65000 9 ", 1000)), 1 << 20);
}

TEST(DecoderMemory, IsCountedByThisTest) {
  EXPECT_GE(memory_for(test::make_jpeg(1024, 1024, {})), 3 << 20);
  EXPECT_GE(memory_for(test::make_jpeg(1024, 1024, {.h = 1, .v = 1, .progressive = true})), 9 << 20)
      << "pixels and coefficients";
}

TEST(DecoderMemory, IsNotTakenForRefusedSizes) {
  Bytes png = test::make_png({8, 8, 3});
  png[16] = png[20] = 0x7F;  // 2^31 - 2^24 pixels each way; the checksum is not even looked at
  EXPECT_LT(memory_for(png), 1 << 20);
  Bytes jpeg = test::make_jpeg(8, 8, {});
  const std::size_t frame = test::find_marker(jpeg, 0xC0);
  ASSERT_LT(frame, jpeg.size());
  jpeg[frame + 5] = jpeg[frame + 7] = 0xFF;  // 65,288 pixels each way
  EXPECT_LT(memory_for(jpeg), 1 << 20);
}

// Small files of every kind, so that many mutations hit something that matters.
std::vector<Bytes> made_seeds() {
  std::vector<Bytes> found;
  for (const test::JpegKind& kind :
       {test::JpegKind{}, test::JpegKind{.progressive = true}, test::JpegKind{.h = 1, .v = 1},
        test::JpegKind{.h = 2, .v = 1, .restart_rows = 1}, test::JpegKind{.channels = 1},
        test::JpegKind{.channels = 4, .h = 1, .v = 1}, test::JpegKind{.arithmetic = true},
        test::JpegKind{.h = 1, .v = 2, .progressive = true, .arithmetic = true}}) {
    found.push_back(test::make_jpeg(45, 37, kind));
  }
  for (const int channels : {1, 3}) found.push_back(test::make_png({17, 21, channels}));
  for (const bool lossless : {false, true}) {
    for (const int channels : {3, 4}) {
      found.push_back(test::make_webp(45, 37, lossless, channels));
    }
  }
  for (const test::GoldenImage& file : test::golden_images()) found.push_back(file.bytes);
  return found;
}

std::vector<Bytes> collected_seeds() {
  std::vector<Bytes> found;
  if (!fs::exists(test_data() / "hostile")) return found;
  for (const fs::path& path : hostile_files()) {  // interlace, palettes, 16 bits, EXIF …
    Bytes bytes = contents_of(path);
    ImageDecoder decoder(kLimits);
    if (bytes.size() < 3000 && test::decode_or_none(decoder, bytes)) found.push_back(bytes);
  }
  return found;
}

void mutate_once(Bytes& bytes, Rng& rng) {
  const std::size_t at = below(rng, bytes.size());
  const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
  switch (below(rng, 6)) {
    case 0:
      bytes[at] ^= static_cast<std::uint8_t>(1U << below(rng, 8));
      break;
    case 1:
      bytes[at] = static_cast<std::uint8_t>(below(rng, 256));
      break;
    case 2:
      bytes[at] = rng.bernoulli(0.5) ? 0xFF : 0x00;
      break;
    case 3:
      bytes.insert(place, static_cast<std::uint8_t>(below(rng, 256)));
      break;
    case 4:
      bytes.erase(place);
      break;
    default: {  // a run from elsewhere in the file
      const std::size_t from = below(rng, bytes.size());
      const std::size_t count =
          std::min<std::size_t>(1 + below(rng, 16), bytes.size() - std::max(at, from));
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), count, place);
    }
  }
}

std::uint32_t crc_of(const std::uint8_t* first, std::size_t size) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (std::size_t i = 0; i < size; ++i) {
    crc ^= first[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
  }
  return ~crc;
}

// Chunks of PNG carry checksums, which nearly every mutation breaks; half of them are put right, so
// that what lies behind is reached too.
void repair_checksums(Bytes& bytes) {
  if (sniff_format(as_span(bytes)) != ImageFormat::kPng) return;
  for (std::size_t at = 8; at + 12 <= bytes.size();) {
    const std::size_t length = std::size_t{bytes[at]} << 24 | std::size_t{bytes[at + 1]} << 16 |
                               std::size_t{bytes[at + 2]} << 8 | bytes[at + 3];
    if (length > bytes.size() - at - 12) return;
    const std::uint32_t crc = crc_of(&bytes[at + 4], length + 4);
    for (std::size_t i = 0; i < 4; ++i) {
      bytes[at + 8 + length + i] = static_cast<std::uint8_t>(crc >> (24 - 8 * i));
    }
    at += length + 12;
  }
}

// 10^4 in every run; STOKER_MUTATIONS=100000 for a long one.
int mutation_count() {
  const char* text = std::getenv("STOKER_MUTATIONS");
  return text != nullptr ? std::atoi(text) : 10'000;
}

TEST(MutatedFiles, AreImagesOrErrorsWithinTheMemoryPromised) {
  std::vector<Bytes> originals = made_seeds();
  const std::size_t made = originals.size();
  for (Bytes& bytes : collected_seeds()) originals.push_back(std::move(bytes));
  ImageDecoder decoder(kLimits);
  test::reset_peak();
  const std::int64_t before = test::live_bytes();
  int good = 0;
  const int count = mutation_count();
  for (int i = 0; i < count; ++i) {
    Rng rng({.seed = 6, .sample = static_cast<std::uint64_t>(i)}, 0);
    Bytes bytes = originals[below(rng, rng.bernoulli(0.5) ? made : originals.size())];
    const std::uint32_t changes = 1 + below(rng, 6);
    for (std::uint32_t j = 0; j < changes && !bytes.empty(); ++j) mutate_once(bytes, rng);
    if (rng.bernoulli(0.5)) repair_checksums(bytes);
    good += survives(decoder, bytes, rng, "mutation " + std::to_string(i));
    if (testing::Test::HasFailure()) break;
  }
  // The copies that the test makes for comparison count too: four of at most 8 bytes a pixel.
  EXPECT_LE(test::peak_bytes() - before, kMostWideMemory + 32 * kLimits.max_pixels);
  EXPECT_GT(good, count / 50) << "the mutations reach no decoder";
  EXPECT_LT(good, count - count / 50) << "the mutations change nothing";
  fmt::print("{} of {} mutated files decode; {} originals\n", good, count, originals.size());
}

}  // namespace
}  // namespace stoker
