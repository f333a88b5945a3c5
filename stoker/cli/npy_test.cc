#include "stoker/cli/npy.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"
#include "stoker/pipeline/feed.h"
#include "stoker/pipeline/test_sources.h"

namespace stoker {
namespace {

Batch first_batch(PixelType type) {
  Feed feed(std::make_shared<test::MadeUpSource>(8, ImageShape{.height = 3, .width = 5}), Policy(),
            {.workers = 1, .batch_size = 4, .pixel_type = type});
  return std::move(*feed.next());
}

// The layout that NumPy's format description gives: magic, version, header of a length that brings
// the values to a multiple of 64.
TEST(Npy, HasAHeaderThatDescribesTheValues) {
  for (const auto& [type, description] :
       {std::pair{PixelType::kF32,
                  "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 1, 3, 5), }"},
        std::pair{PixelType::kU8,
                  "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 3, 5, 1), }"}}) {
    const Batch batch = first_batch(type);
    const auto path = std::filesystem::path(testing::TempDir()) / "stoker_batch.npy";
    write_npy(path, batch);
    std::ifstream file(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    ASSERT_EQ(text.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    const std::size_t header =
        static_cast<unsigned char>(text[8]) + 256 * static_cast<unsigned char>(text[9]);
    EXPECT_EQ((10 + header) % 64, 0U);
    EXPECT_THAT(text.substr(10, header), testing::StartsWith(description));
    EXPECT_EQ(text.size(), 10 + header + batch.pixels().size());
    EXPECT_EQ(
        text.substr(10 + header),
        std::string(reinterpret_cast<const char*>(batch.pixels().data()), batch.pixels().size()));
    std::filesystem::remove(path);
  }
}

TEST(Npy, AFolderThatDoesNotExistIsAnError) {
  const TempFolder folder;
  EXPECT_THROW(write_npy(folder.path() / "missing/batch.npy", first_batch(PixelType::kU8)), Error);
}

}  // namespace
}  // namespace stoker
