#include "stoker/io/weights_file.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/io/test_safetensors.h"
#include "stoker/io/test_torch_files.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<TensorView> named(const std::vector<std::string>& names) {
  std::vector<TensorView> tensors;
  for (const std::string& name : names)
    tensors.push_back({.name = name, .shape = {0}, .bytes = {}});
  return tensors;
}

std::vector<std::string> names_of(std::span<const TensorView> tensors) {
  std::vector<std::string> names;
  for (const TensorView& tensor : tensors) names.push_back(tensor.name);
  return names;
}

TEST(StripCommonPrefix, TakesOffWhatAllNamesHave) {
  auto tensors = named({"module._orig_mod.fc.weight", "module._orig_mod.fc.bias"});
  EXPECT_EQ(strip_common_prefix(tensors), "module._orig_mod.");
  EXPECT_THAT(names_of(tensors), ElementsAre("fc.weight", "fc.bias"));
}

TEST(StripCommonPrefix, LeavesNamesOfWhichOnlySomeHaveIt) {
  auto tensors = named({"module.fc.weight", "fc.bias"});
  EXPECT_EQ(strip_common_prefix(tensors), "");
  EXPECT_THAT(names_of(tensors), ElementsAre("module.fc.weight", "fc.bias"));
  auto other = named({"module_fc.weight", "module_fc.bias"});
  EXPECT_EQ(strip_common_prefix(other), "");
}

TEST(StripCommonPrefix, LeavesNoNameEmptyAndEndsForNoTensors) {
  auto tensors = named({"module.", "module.a"});
  EXPECT_EQ(strip_common_prefix(tensors), "");
  std::vector<TensorView> none;
  EXPECT_EQ(strip_common_prefix(none), "");
}

TEST(WeightsFile, ReadsBothFormatsWhateverTheirEnding) {
  const TempFolder folder;
  const Sample sample;
  write_safetensors(folder.path() / "a.pth", sample.tensors, sample.metadata);
  write_torch_file(folder.path() / "b.safetensors", sample.tensors);
  const WeightsFile a(folder.path() / "a.pth"), b(folder.path() / "b.safetensors");
  EXPECT_EQ(a.format(), WeightsFormat::kSafetensors);
  EXPECT_EQ(b.format(), WeightsFormat::kTorch);
  EXPECT_EQ(a.metadata(), sample.metadata);
  EXPECT_TRUE(b.metadata().empty());
  EXPECT_EQ(a.tensors().size(), sample.tensors.size());
  EXPECT_EQ(encode_safetensors(a.tensors()), encode_safetensors(b.tensors()));
}

TEST(WeightsFile, ReadsTheOldFormat) {
  const TempFolder folder;
  std::string pickle = pickles::good_pickle();
  pickle.insert(pickle.find("tQ"), "N");
  const auto path =
      folder.write("old.pth", pickles::old_file(pickle, {{"0", pickles::six_floats()}}));
  EXPECT_EQ(WeightsFile(path).format(), WeightsFormat::kTorch);
}

TEST(WeightsFile, ASafetensorsHeaderOfAnyLengthIsNoPickle) {
  // 640 is 0x280: the same two bytes begin a pickle.
  const TempFolder folder;
  std::string header = "{\"__metadata__\":{\"k\":\"";
  header += std::string(640 - header.size() - 3, 'x') + "\"}}";
  const WeightsFile file(folder.write("w", file_of(header)));
  EXPECT_EQ(file.format(), WeightsFormat::kSafetensors);
}

TEST(WeightsFile, NamesAreThoseWithoutWrappers) {
  const TempFolder folder;
  write_torch_file(folder.path() / "w.pt", named({"module.a", "module.b"}));
  const WeightsFile file(folder.path() / "w.pt");
  EXPECT_THAT(names_of(file.tensors()), ElementsAre("a", "b"));
  EXPECT_EQ(file.prefix(), "module.");
}

TEST(WeightsFile, AnotherFileIsRefused) {
  const TempFolder folder;
  for (const char* content : {"", "<html>not found</html>", "GIF89a"}) {
    const auto path = folder.write("w.pth", pickles::bytes_of(content));
    EXPECT_THAT(message_of([&] { const WeightsFile file(path); }),
                HasSubstr("Expected a safetensors file, or a state_dict of torch.save"));
  }
}

}  // namespace
}  // namespace stoker
