#include "stoker/io/checkpoint.h"

#include <fstream>

#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

const std::vector<float> kValues = {1, 2, 3, 4, 5, 6};

std::vector<TensorView> tensors_of(const std::vector<float>& values) {
  return {{.name = "w",
           .dtype = DType::kF32,
           .shape = {static_cast<std::int64_t>(values.size())},
           .bytes = std::as_bytes(std::span(values))}};
}

void save(const CheckpointFolder& folder, std::uint64_t step) {
  folder.save(step, tensors_of(kValues), {{"step", std::to_string(step)}});
}

std::string newest_step(const CheckpointFolder& folder, std::size_t damaged = 0) {
  std::vector<ErrorDetails> reasons;
  const auto found = folder.newest(reasons);
  EXPECT_EQ(reasons.size(), damaged);
  return found ? found->file.metadata().at("step") : "none";
}

TEST(Checkpoint, EveryFlippedBitIsSeen) {
  const TempFolder folder;
  const auto path = folder.path() / "c";
  write_checkpoint(path, tensors_of(kValues), {{"step", "7"}});
  const Bytes whole = contents_of(path);
  for (std::size_t byte = 0; byte < whole.size(); ++byte) {
    for (const int bit : {0, 3, 7}) {
      Bytes flipped = whole;
      flipped[byte] ^= static_cast<std::uint8_t>(1 << bit);
      folder.write("c", flipped);
      try {
        const SafetensorsFile file = read_checkpoint(path);
        // Only padding may differ: what it says must not.
        EXPECT_EQ(file.metadata().at("step"), "7");
        EXPECT_EQ(whole[byte], ' ') << "byte " << byte;
      } catch (const Error&) {
      }
    }
  }
}

TEST(Checkpoint, EveryTruncationIsSeen) {
  const TempFolder folder;
  const auto path = folder.path() / "c";
  write_checkpoint(path, tensors_of(kValues), {});
  const Bytes whole = contents_of(path);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    folder.write("c", Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    EXPECT_THROW(static_cast<void>(read_checkpoint(path)), Error) << size;
  }
}

TEST(Checkpoint, AFileOfWeightsIsNone) {
  const TempFolder folder;
  write_safetensors(folder.path() / "w", tensors_of(kValues), {});
  const ErrorDetails error =
      error_of([&] { static_cast<void>(read_checkpoint(folder.path() / "w")); });
  EXPECT_EQ(error.found, "none");
}

TEST(CheckpointFolder, KeepsTheNewest) {
  const TempFolder temp;
  const CheckpointFolder folder(temp.path() / "a" / "b", 2);
  for (const std::uint64_t step : {5, 90, 1000, 20000}) save(folder, step);
  EXPECT_EQ(folder.files().size(), 2U);
  EXPECT_EQ(newest_step(folder), "20000");
}

TEST(CheckpointFolder, TakesTheOneBeforeADamagedOne) {
  const TempFolder temp;
  const CheckpointFolder folder(temp.path(), 3);
  EXPECT_EQ(newest_step(folder), "none");
  for (const std::uint64_t step : {1, 2, 3}) save(folder, step);
  std::filesystem::resize_file(folder.files()[0], 40);
  EXPECT_EQ(newest_step(folder, 1), "2");
  std::ofstream(folder.files()[1], std::ios::in | std::ios::out | std::ios::ate).put('x');
  EXPECT_EQ(newest_step(folder, 2), "1");
  std::ofstream(folder.files()[2], std::ios::trunc).flush();
  EXPECT_EQ(newest_step(folder, 3), "none");
}

TEST(CheckpointFolder, SweepsWhatAKilledProcessLeft) {
  const TempFolder temp;
  temp.write(".stoker-123-4.tmp", {1, 2, 3});
  temp.write("step-000000000001.safetensors.bak", {1});
  const CheckpointFolder folder(temp.path(), 1);
  EXPECT_FALSE(std::filesystem::exists(temp.path() / ".stoker-123-4.tmp"));
  EXPECT_TRUE(std::filesystem::exists(temp.path() / "step-000000000001.safetensors.bak"));
  EXPECT_TRUE(folder.files().empty());
}

TEST(CheckpointFolder, CannotBeBelowAFile) {
  const TempFolder temp;
  const auto file = temp.write("runs", {1});
  const ErrorDetails error = error_of([&] { const CheckpointFolder folder(file / "a", 1); });
  EXPECT_EQ(error.what, "cannot make the folder for checkpoints");
  EXPECT_EQ(error.path, (file / "a").string());
  EXPECT_EQ(error.found, "Not a directory");
}

}  // namespace
}  // namespace stoker
