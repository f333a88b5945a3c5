#include "stoker/image/png.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <png.h>
#include <unistd.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

Image pattern(const ImageShape& shape) {
  Image image(shape);
  std::uint8_t* pixels = image.view().data;
  for (std::size_t i = 0; i < shape.bytes(); ++i) {
    pixels[i] = static_cast<std::uint8_t>(i * 7 + i / 11);
  }
  return image;
}

// Reads back with libpng's simplified interface, a path that shares nothing with our writer.
Image decode(const std::vector<std::byte>& bytes) {
  png_image reader{};
  reader.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&reader, bytes.data(), bytes.size()) == 0) {
    ADD_FAILURE() << reader.message;
    return {};
  }
  const bool grey = reader.format == PNG_FORMAT_GRAY;
  EXPECT_TRUE(grey || reader.format == PNG_FORMAT_RGB) << reader.format;
  Image image(
      ImageShape{static_cast<int>(reader.height), static_cast<int>(reader.width), grey ? 1 : 3});
  if (png_image_finish_read(&reader, nullptr, image.view().data, 0, nullptr) == 0) {
    ADD_FAILURE() << reader.message;
  }
  return image;
}

std::vector<std::byte> read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  const std::vector<char> chars{std::istreambuf_iterator<char>(file), {}};
  const auto* first = reinterpret_cast<const std::byte*>(chars.data());
  return {first, first + chars.size()};
}

// A fresh folder for each test, removed at its end.
class WritePng : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "stoker_png_test_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      found.push_back(entry.path().filename().string());
    }
    return found;
  }

  fs::path folder_;
};

ErrorDetails error_of_writing(const fs::path& path) {
  try {
    write_png(path, pattern({4, 4, 1}).view());
  } catch (const Error& error) {
    return error.details();
  }
  ADD_FAILURE() << "no error for " << path;
  return {};
}

TEST(EncodePng, RoundTripsGreyAndRgb) {
  for (const int channels : {1, 3}) {
    for (const auto& [height, width] : {std::pair{1, 1}, {1, 17}, {17, 1}, {28, 28}, {33, 65}}) {
      const Image image = pattern({height, width, channels});
      EXPECT_EQ(decode(encode_png(image.view())), image) << height << "x" << width;
    }
  }
}

TEST(EncodePng, SkipsGapsBetweenRows) {
  const Image whole = pattern({9, 12, 3});
  const ImageView inner{whole.view().row(2) + 3 * 3, {5, 7, 3}, whole.view().bytes_per_row};
  EXPECT_EQ(decode(encode_png(inner)), Image(inner));
}

TEST(EncodePng, GivesTheSameBytesEachTime) {
  const Image image = pattern({20, 30, 3});
  EXPECT_EQ(encode_png(image.view()), encode_png(image.view()));
}

TEST(EncodePng, RefusesShapesThatNoImageHas) {
  const std::uint8_t pixel = 0;
  EXPECT_THROW((void)encode_png({}), Error);
  EXPECT_THROW((void)encode_png({&pixel, {1, 1, 2}, 2}), Error);
  EXPECT_THROW((void)encode_png({&pixel, {-1, 1, 1}, 1}), Error);
}

// Above libpng's default limit of a million, which its simplified reader keeps: only the header's
// width is looked at here.
TEST(EncodePng, TakesTheWidestImage) {
  const std::vector<std::byte> bytes = encode_png(Image(ImageShape{1, kMaxSide, 1}).view());
  ASSERT_GT(bytes.size(), 20U);
  EXPECT_EQ(png_get_uint_32(reinterpret_cast<png_const_bytep>(&bytes[16])), 1U << 20);
}

TEST_F(WritePng, LeavesOnlyTheFinishedFile) {
  const Image image = pattern({28, 28, 1});
  write_png(folder_ / "digit.png", image.view());
  EXPECT_EQ(decode(read_bytes(folder_ / "digit.png")), image);
  EXPECT_EQ(names(), std::vector<std::string>{"digit.png"});
}

TEST_F(WritePng, ReplacesAnOlderFile) {
  std::ofstream(folder_ / "digit.png") << "old and much longer than nothing";
  write_png(folder_ / "digit.png", pattern({3, 3, 3}).view());
  EXPECT_EQ(decode(read_bytes(folder_ / "digit.png")), pattern({3, 3, 3}));
}

TEST_F(WritePng, AcceptsTheLongestFileName) {
  const std::string name = std::string(251, 'n') + ".png";
  write_png(folder_ / name, pattern({2, 2, 1}).view());
  EXPECT_EQ(names(), std::vector<std::string>{name});
}

TEST_F(WritePng, AcceptsANameWithoutAFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  EXPECT_NO_THROW(write_png("plain.png", pattern({2, 2, 1}).view()));
  fs::current_path(before);
  EXPECT_EQ(names(), std::vector<std::string>{"plain.png"});
}

TEST_F(WritePng, WritesThroughALink) {
  fs::create_directory(folder_ / "real");
  std::ofstream(folder_ / "real" / "digit.png") << "old";
  fs::create_symlink(folder_ / "real" / "digit.png", folder_ / "link.png");
  write_png(folder_ / "link.png", pattern({5, 5, 1}).view());
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.png"));
  EXPECT_EQ(decode(read_bytes(folder_ / "real" / "digit.png")), pattern({5, 5, 1}));
}

TEST_F(WritePng, NamesTheMissingFolder) {
  const ErrorDetails details = error_of_writing(folder_ / "missing" / "digit.png");
  EXPECT_EQ(details.path, (folder_ / "missing" / "digit.png").string());
  EXPECT_NE(details.what.find("folder does not exist"), std::string::npos) << details.what;
  EXPECT_NE(details.hint.find((folder_ / "missing").string()), std::string::npos) << details.hint;
}

TEST_F(WritePng, RefusesAFolderAsName) {
  EXPECT_EQ(error_of_writing(folder_).found, "a folder");
  EXPECT_EQ(error_of_writing(folder_ / "").found, "a folder");
  EXPECT_EQ(error_of_writing("").found, "no name");
}

TEST_F(WritePng, RefusesANameThatIsTooLong) {
  const ErrorDetails details = error_of_writing(folder_ / (std::string(300, 'n') + ".png"));
  EXPECT_NE(details.hint.find("shorter"), std::string::npos) << details.hint;
  EXPECT_TRUE(names().empty());
}

TEST_F(WritePng, ReportsAFullDisk) {
  if (!fs::is_character_file("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const ErrorDetails details = error_of_writing("/dev/full");
  EXPECT_EQ(details.path, "/dev/full");
  EXPECT_NE(details.hint.find("full"), std::string::npos) << details.hint;
  EXPECT_TRUE(fs::is_character_file("/dev/full")) << "the device was replaced";
}

// A file size limit stops the temporary file half-way, as a disk that fills up does.
TEST_F(WritePng, KeepsTheOlderFileWhereWritingFails) {
  const fs::path path = folder_ / "digit.png";
  write_png(path, pattern({6, 6, 1}).view());
  const Image large = pattern({200, 200, 3});
  ASSERT_GT(encode_png(large.view()).size(), 64U);

  const std::string hint = error_of([&] {
                             const FileSizeLimit limit(64);
                             write_png(path, large.view());
                           }).hint;
  EXPECT_NE(hint.find("size limit"), std::string::npos) << hint;
  EXPECT_EQ(decode(read_bytes(path)), pattern({6, 6, 1}));
  EXPECT_EQ(names(), std::vector<std::string>{"digit.png"});
}

}  // namespace
}  // namespace stoker
