#include "stoker/data/sources/idx.h"

#include <algorithm>
#include <array>
#include <chrono>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/data/test_files.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

IdxArray parse(const Bytes& bytes, const IdxLimits& limits = {}) {
  return parse_idx(as_span(bytes), "file", limits);
}

ErrorDetails refusal(const Bytes& bytes, const IdxLimits& limits = {}) {
  const ErrorDetails error = error_of([&] { (void)parse(bytes, limits); });
  EXPECT_EQ(error.path, "file");
  EXPECT_TRUE(error.offset.has_value());
  EXPECT_FALSE(error.expected.empty());
  EXPECT_FALSE(error.found.empty());
  EXPECT_FALSE(error.hint.empty());
  return error;
}

TEST(Idx, ReadsLabels) {
  const Bytes bytes = labels_idx({3, 1, 255});
  const IdxArray array = parse(bytes);
  EXPECT_EQ(array.header.kind, IdxKind::kLabels);
  EXPECT_EQ(array.header.count, 3U);
  EXPECT_THAT(array.values, ElementsAre(3, 1, 255));
}

TEST(Idx, ReadsGreyImagesWithoutCopying) {
  const Bytes bytes = images_idx(4);
  const IdxArray array = parse(bytes);
  EXPECT_EQ(array.header.kind, IdxKind::kImages);
  EXPECT_EQ(array.header.shape, (ImageShape{2, 3, 1}));
  EXPECT_EQ(array.values.size(), 24U);
  EXPECT_EQ(array.values.data(), bytes.data() + 16);
  EXPECT_EQ(array.memory, nullptr);
}

TEST(Idx, ReadsColourImages) {
  const Bytes bytes = idx_bytes({0x804, 2, 1, 2, 3}, Bytes(12, 9));
  EXPECT_EQ(parse(bytes).header.shape, (ImageShape{1, 2, 3}));
  EXPECT_EQ(refusal(idx_bytes({0x804, 2, 1, 2, 4}, Bytes(16, 9))).expected, "3 channels");
}

TEST(Idx, KnowsGzipByItsFirstBytes) {
  const TempFolder folder;
  const IdxArray array = read_idx(folder.write("no_extension", gzip_bytes(images_idx(4))));
  EXPECT_EQ(array.header.count, 4U);
  EXPECT_EQ(array.values[23], 23);
}

TEST(Idx, KeepsTheValuesOfAPlainFile) {
  const TempFolder folder;
  const auto path = folder.write("labels", labels_idx({1, 2}));
  const IdxArray copy = IdxArray(read_idx(path));
  EXPECT_EQ(copy.name, path.string());
  EXPECT_THAT(copy.values, ElementsAre(1, 2));
}

TEST(Idx, AcceptsAnArrayWithoutSamples) {
  EXPECT_EQ(parse(labels_idx({})).values.size(), 0U);
  EXPECT_EQ(parse(gzip_bytes(images_idx(0))).values.size(), 0U);
}

TEST(Idx, RefusesATruncatedHeader) {
  for (const Bytes& whole :
       {labels_idx({1}), images_idx(1), idx_bytes({0x804, 1, 1, 1, 3}, {1, 2, 3})}) {
    const std::size_t header = parse(whole).header.header_bytes;
    for (std::size_t size = 0; size < header; ++size) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_EQ(refusal(cut).offset, size);
      EXPECT_EQ(refusal(gzip_bytes(cut)).offset, size);
    }
  }
}

TEST(Idx, RefusesTruncatedValues) {
  Bytes bytes = images_idx(2);
  bytes.pop_back();
  const ErrorDetails error = refusal(bytes);
  EXPECT_EQ(error.offset, 16U + 11U);
  EXPECT_EQ(error.expected, "12 bytes after the header");
  EXPECT_EQ(error.found, "11");
  EXPECT_EQ(refusal(gzip_bytes(bytes)).found, "11");
}

TEST(Idx, RefusesTrailingBytes) {
  Bytes bytes = images_idx(2);
  bytes.push_back(0);
  EXPECT_EQ(refusal(bytes).found, "13");
  EXPECT_EQ(refusal(gzip_bytes(bytes)).found, "more bytes");
}

TEST(Idx, RefusesOtherMagicNumbers) {
  for (const std::uint32_t magic : {0x0U, 0x802U, 0x805U, 0x903U, 0xD03U, 0x03080000U, ~0U}) {
    const ErrorDetails error = refusal(idx_bytes({magic, 1, 1, 1, 1}, {1}));
    EXPECT_EQ(error.offset, 0U);
    EXPECT_EQ(error.found, fmt::format("{:08x}", magic));
  }
}

TEST(Idx, RefusesSidesThatAreZeroOrTooLarge) {
  const std::uint32_t side = kMaxSide;
  EXPECT_EQ(refusal(idx_bytes({0x803, 1, 0, 1})).offset, 8U);
  EXPECT_EQ(refusal(idx_bytes({0x803, 1, 1, 0})).offset, 12U);
  EXPECT_EQ(refusal(idx_bytes({0x803, 1, side + 1, 1})).offset, 8U);
  EXPECT_EQ(refusal(idx_bytes({0x803, 1, 1, side + 1})).offset, 12U);
  EXPECT_EQ(refusal(idx_bytes({0x803, 1U << 31, 1U << 31, 1U << 31})).offset, 8U);
}

TEST(Idx, RefusesAProductThatOverflows) {
  const std::uint32_t side = kMaxSide;  // 2^31 * 2^20 * 2^20 = 2^71
  for (const Bytes& bytes :
       {idx_bytes({0x803, 1U << 31, side, side}), idx_bytes({0x804, 1U << 23, side, side, 3})}) {
    EXPECT_THAT(refusal(bytes).expected, HasSubstr("64 bits"));
    EXPECT_THAT(refusal(gzip_bytes(bytes)).expected, HasSubstr("64 bits"));
  }
  // 2^63 fits, and is still far more than the file has.
  EXPECT_EQ(refusal(idx_bytes({0x803, 1U << 23, side, side})).found, "0");
}

TEST(Idx, RefusesAGzipHeaderThatPromisesMoreThanTheFileCanHold) {
  const Bytes bomb = gzip_bytes(idx_bytes({0x803, 60000, 4096, 4096}, Bytes(100, 0)));
  const ErrorDetails error = refusal(bomb);
  EXPECT_THAT(error.found, HasSubstr("promises 1006632960000"));
}

TEST(Idx, AcceptsTheBestThatDeflateCanDo) {
  const Bytes black = gzip_bytes(idx_bytes({0x803, 100, 1000, 1000}, Bytes(100'000'000, 0)));
  EXPECT_EQ(parse(black).values.size(), 100'000'000U);  // about 1029 : 1
}

TEST(Idx, RefusesGzipAboveTheLimitAndTakesPlain) {
  const IdxLimits limits{.max_bytes = 11};
  const Bytes plain = images_idx(2);
  const ErrorDetails error = refusal(gzip_bytes(plain), limits);
  EXPECT_EQ(error.expected, "at most 11 bytes of values");
  EXPECT_THAT(error.hint, HasSubstr("gunzip"));
  EXPECT_EQ(parse(plain, limits).values.size(), 12U);
  EXPECT_EQ(parse(gzip_bytes(plain), {.max_bytes = 12}).values.size(), 12U);
}

TEST(Idx, RefusesGzipCutAnywhere) {
  const Bytes whole = gzip_bytes(images_idx(20));
  for (std::size_t size = 2; size < whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(refusal(cut).found, "the end of the file") << "size=" << size;
  }
}

TEST(Idx, RefusesGzipWithAnyFlippedByte) {
  const Bytes whole = gzip_bytes(images_idx(20));
  for (std::size_t place = 2; place < whole.size(); ++place) {
    if (place >= 4 && place < 10) continue;  // time and system of the gzip header: of no effect
    Bytes damaged = whole;
    damaged[place] ^= 0xFF;
    EXPECT_THROW((void)parse(damaged), Error) << "place=" << place;
  }
}

TEST(Idx, NamesTheChecksumThatFailed) {
  Bytes damaged = gzip_bytes(images_idx(20));
  damaged[damaged.size() - 8] ^= 1;
  EXPECT_EQ(refusal(damaged).found, "incorrect data check");
}

TEST(Idx, ReadsConcatenatedGzipMembersAsOneStream) {
  const Bytes plain = images_idx(20);
  for (const std::ptrdiff_t cut : {0, 3, 16, 50, 136}) {
    Bytes packed = gzip_bytes({plain.begin(), plain.begin() + cut});
    const Bytes second = gzip_bytes({plain.begin() + cut, plain.end()});
    packed.insert(packed.end(), second.begin(), second.end());
    EXPECT_TRUE(std::ranges::equal(parse(packed).values, std::span(plain).subspan(16)));
  }
}

TEST(Idx, RefusesGarbageAfterTheGzipData) {
  Bytes packed = gzip_bytes(images_idx(2));
  const std::size_t end = packed.size();
  packed.insert(packed.end(), 20, 0);
  const ErrorDetails error = refusal(packed);
  EXPECT_EQ(error.found, "incorrect header check");
  EXPECT_GE(*error.offset, end);
}

TEST(Idx, SaysWhichFileIsMissing) {
  const ErrorDetails error = error_of([] { (void)read_idx("no/such/images"); });
  EXPECT_EQ(error.path, "no/such/images");
  EXPECT_THAT(error.found, HasSubstr("No such file"));
}

TEST(IdxSource, ReadsImagesWithTheirLabels) {
  const Bytes images = images_idx(3), labels = labels_idx({2, 0, 1});
  const IdxSource source(parse(images), parse(labels), {"a", "b", "c"});
  SampleBuffer buffer;
  EXPECT_EQ(source.size(), 3U);
  EXPECT_EQ(source.shape(), (ImageShape{2, 3, 1}));
  EXPECT_THAT(source.class_names(), ElementsAre("a", "b", "c"));
  Sample sample = source.read(1, buffer).value();
  EXPECT_EQ(sample.label, 0);
  EXPECT_EQ(sample.image.at(1, 2), 11);
  EXPECT_TRUE(sample.image.contiguous());
  EXPECT_EQ(source.sample_name(1), "file#1");
  EXPECT_THROW((void)source.read(3, buffer), InvariantError);
}

TEST(IdxSource, NumbersTheClassesWithoutNames) {
  const Bytes images = images_idx(2), labels = labels_idx({0, 3});
  EXPECT_THAT(IdxSource(parse(images), parse(labels)).class_names(),
              ElementsAre("0", "1", "2", "3"));
}

TEST(IdxSource, OutlivesTheFilesItWasOpenedFrom) {
  const TempFolder folder;
  const auto source = open_idx(folder.write("images", images_idx(2)),
                               folder.write("labels.gz", gzip_bytes(labels_idx({0, 1}))));
  std::filesystem::remove_all(folder.path());
  SampleBuffer buffer;
  EXPECT_EQ(source->read(1, buffer).value().image.at(1, 2), 11);
  EXPECT_EQ(source->sample_name(7), (folder.path() / "images").string() + "#7");
}

// Small files lie in memory; a mapped one would end the test with SIGBUS.
TEST(IdxSource, KeepsItsImagesWhenTheFileIsShortened) {
  const TempFolder folder;
  const auto images = folder.write("images", images_idx(40'000));  // more than a page
  const auto source = open_idx(images, folder.write("labels", labels_idx(Bytes(40'000, 1))));
  std::filesystem::resize_file(images, 16);
  SampleBuffer buffer;
  EXPECT_EQ(source->read(39'999, buffer).value().image.at(1, 2), (40'000 * 6 - 1) % 256);
}

// As where the images are larger than the part of memory that they may take.
class LargeIdx : public testing::Test {
 protected:
  LargeIdx()
      : images_(folder_.write("images", images_idx(9))),
        labels_(folder_.write("labels", labels_idx({0, 1, 2, 3, 4, 5, 6, 7, 8}))) {}
  [[nodiscard]] std::shared_ptr<const IdxSource> open() const {
    return open_idx(images_, labels_, {}, {.max_in_memory = 0});
  }
  // What the first sample cannot be read for.
  static ErrorDetails reason(const IdxSource& source) {
    SampleBuffer buffer;
    auto sample = source.read(8, buffer);
    EXPECT_FALSE(sample);
    return sample ? ErrorDetails{} : sample.error();
  }
  TempFolder folder_;
  std::filesystem::path images_, labels_;
};

TEST_F(LargeIdx, IsReadSampleBySampleWithTheSameValues) {
  const auto source = open(), in_memory = open_idx(images_, labels_);
  EXPECT_TRUE(source->images().values.empty());
  EXPECT_EQ(digest_of_values(source->images()), digest_of_values(in_memory->images()));
  SampleBuffer buffer, other, decoded;
  std::vector<std::byte> file;
  const MakeRoom room = [&](std::size_t size) -> std::span<std::byte> {
    file.resize(size);
    return file;
  };
  for (std::uint64_t i = 0; i < 9; ++i) {
    source->prefetch(i);
    const Sample sample = source->read(i, buffer).value();
    const Sample expected = in_memory->read(i, other).value();
    EXPECT_EQ(sample.label, expected.label);
    EXPECT_EQ(Image(sample.image), Image(expected.image)) << i;
    // In two steps, as for worker processes.
    const auto bytes = source->read_bytes(i, room).value();
    ASSERT_EQ(bytes.size(), 6U);
    EXPECT_EQ(Image(source->decode(i, bytes, {}, decoded).value().image), Image(expected.image));
    EXPECT_TRUE(in_memory->read_bytes(i, room).value().empty());
  }
}

TEST_F(LargeIdx, ChecksTheLengthOfTheFileFirst) {
  std::filesystem::resize_file(images_, 16 + 9 * 6 - 1);
  EXPECT_EQ(error_of([&] { (void)open(); }).found, "53");
}

TEST_F(LargeIdx, AFileThatIsShortenedIsAnErrorWithItsName) {
  const auto source = open();
  std::filesystem::resize_file(images_, 20);
  const ErrorDetails error = reason(*source);
  EXPECT_EQ(error.path, images_.string());
  EXPECT_THAT(error.found, HasSubstr("shorter"));
}

TEST_F(LargeIdx, AFileThatIsWrittenIsAnErrorWithItsName) {
  const auto source = open();
  const auto later = std::filesystem::last_write_time(images_) + std::chrono::seconds(1);
  folder_.write("images", images_idx(9));
  std::filesystem::last_write_time(images_, later);
  EXPECT_EQ(reason(*source).path, images_.string());
  EXPECT_THAT(reason(*source).found, HasSubstr("changed"));
}

ErrorDetails source_refusal(const Bytes& images, const Bytes& labels) {
  return error_of([&] {
    const IdxSource source(parse_idx(as_span(images), "images"),
                           parse_idx(as_span(labels), "labels"), {"a", "b"});
  });
}

TEST(IdxSource, RefusesALabelWithoutAClassName) {
  const ErrorDetails error = source_refusal(images_idx(3), labels_idx({0, 1, 2}));
  EXPECT_EQ(error.path, "labels");
  EXPECT_THAT(error.what, HasSubstr("sample 2"));
  EXPECT_EQ(error.offset, 8U + 2U);
  EXPECT_EQ(error.found, "2");
}

TEST(IdxSource, RefusesCountsThatDiffer) {
  const ErrorDetails error = source_refusal(images_idx(3), labels_idx({0, 1}));
  EXPECT_EQ(error.path, "labels");
  EXPECT_THAT(error.expected, HasSubstr("3 labels"));
  EXPECT_EQ(error.found, "2");
}

TEST(IdxSource, RefusesSwappedFiles) {
  const ErrorDetails error = source_refusal(labels_idx({0}), labels_idx({0}));
  EXPECT_EQ(error.path, "images");
  EXPECT_EQ(error.expected, "images");
  EXPECT_EQ(source_refusal(images_idx(1), images_idx(1)).expected, "labels");
}

TEST(IdxSource, RefusesAnEmptyDataSet) {
  EXPECT_THAT(source_refusal(images_idx(0), labels_idx({})).what, HasSubstr("empty"));
}

TEST(Mnist, HasItsKnownCountsAndLabels) {
  const auto folder = test_data() / "mnist";
  STOKER_NEEDS(folder);
  const auto train =
      open_idx(folder / "train-images-idx3-ubyte.gz", folder / "train-labels-idx1-ubyte.gz");
  const auto test =
      open_idx(folder / "t10k-images-idx3-ubyte.gz", folder / "t10k-labels-idx1-ubyte.gz");
  EXPECT_EQ(train->size(), 60000U);
  EXPECT_EQ(test->size(), 10000U);
  EXPECT_EQ(train->shape(), (ImageShape{28, 28, 1}));
  EXPECT_EQ(train->class_names().size(), 10U);
  std::array<int, 10> histogram{};
  SampleBuffer buffer;
  for (std::uint64_t i = 0; i < train->size(); ++i) {
    ++histogram.at(static_cast<std::size_t>(train->read(i, buffer).value().label));
  }
  EXPECT_THAT(histogram, ElementsAre(5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949));
  EXPECT_EQ(train->read(0, buffer).value().label, 5);  // the well-known first digits
  EXPECT_EQ(test->read(0, buffer).value().label, 7);
}

TEST(Mnist, IsTheSamePlainAndPacked) {
  const auto path = test_data() / "mnist" / "t10k-images-idx3-ubyte.gz";
  STOKER_NEEDS(path);
  const IdxArray packed = read_idx(path);
  Bytes plain = idx_bytes({0x803, 10000, 28, 28});
  plain.insert(plain.end(), packed.values.begin(), packed.values.end());
  const TempFolder folder;
  const IdxArray whole = read_idx(folder.write("t10k-images-idx3-ubyte", plain));
  EXPECT_TRUE(std::ranges::equal(whole.values, packed.values));
  EXPECT_EQ(whole.header.shape, packed.header.shape);
  // Unpacked by another road: zlib's own file interface.
  Bytes other(plain.size() + 1);
  gzFile file = gzopen(path.c_str(), "rb");
  ASSERT_NE(file, nullptr);
  const int got = gzread(file, other.data(), static_cast<unsigned>(other.size()));
  gzclose(file);
  other.resize(static_cast<std::size_t>(std::max(got, 0)));
  EXPECT_EQ(other, plain);
}

}  // namespace
}  // namespace stoker
