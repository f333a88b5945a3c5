#include "stoker/run/find_weights.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"
#include "stoker/nn/networks/pretrained.h"
#include "stoker/store/test_http_server.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

WeightsSearch search_with(std::map<std::string, std::string> variables) {
  WeightsSearch search{.retry = quick_retries()};
  search.environment = [variables = std::move(variables)](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  return search;
}

std::string search_refusal(const std::string& name, const WeightsSearch& search) {
  try {
    static_cast<void>(find_published(name, search));
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(FindWeights, FoldersInOrder) {
  EXPECT_THAT(weights_folders(search_with({{"HOME", "/h"}, {"STOKER_WEIGHTS", "/w"}})),
              ElementsAre("/w", "/h/.cache/torch/hub/checkpoints"));
  EXPECT_THAT(weights_folders(search_with({{"HOME", "/h"}, {"TORCH_HOME", "/t"}})),
              ElementsAre("/t/hub/checkpoints"));
  WeightsSearch given = search_with({{"STOKER_WEIGHTS", "/w"}});
  given.folder = "/g";
  EXPECT_THAT(weights_folders(given), ElementsAre("/g"));
}

TEST(FindWeights, PathsAndUnknownNamesAreLeftToOthers) {
  const WeightsSearch search = search_with({});
  EXPECT_FALSE(find_published("./resnet18", search));
  EXPECT_FALSE(find_published("mine.pth", search));
  EXPECT_FALSE(find_published("", search));
}

TEST(FindWeights, AMissingFileIsToldWithItsAddressAndDigits) {
  const TempFolder folder;
  const WeightsSearch search = search_with({{"STOKER_WEIGHTS", folder.path().string()}});
  for (const char* name : {"resnet18", "resnet18-f37072fd.pth"}) {
    const std::string told = search_refusal(name, search);
    EXPECT_THAT(told, HasSubstr("https://download.pytorch.org/models/resnet18-f37072fd.pth"));
    EXPECT_THAT(told, HasSubstr("SHA-256 begins with f37072fd"));
    EXPECT_THAT(told, HasSubstr(folder.path().string()));
  }
  EXPECT_THAT(search_refusal("resnet50-11ad3fa6.pth", search), HasSubstr("11ad3fa6"));
}

TEST(FindWeights, AFileWithOtherDigitsIsRefused) {
  const TempFolder folder;
  folder.write("resnet18-f37072fd.pth", {1, 2, 3});
  EXPECT_THAT(search_refusal("resnet18", search_with({{"STOKER_WEIGHTS", folder.path().string()}})),
              HasSubstr("begins with f37072fd"));
}

TEST(FindWeights, WhatIsFetchedMustHaveTheDigits) {
  const TempFolder folder;
  const TestHttpServer server(std::vector<TestReply>{{.body = "another file"}});
  WeightsSearch search = search_with({{"STOKER_WEIGHTS", folder.path().string()},
                                      {"STOKER_WEIGHTS_URL", server.url() + "/mirror/"}});
  EXPECT_THAT(search_refusal("resnet18", search), HasSubstr("not on this machine"));
  EXPECT_TRUE(server.requests().empty()) << "nothing is asked for without download";
  search.download = true;
  EXPECT_THAT(search_refusal("resnet18", search), HasSubstr("begins with f37072fd"));
  EXPECT_EQ(server.requests().back().target, "/mirror/resnet18-f37072fd.pth");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(FindWeights, EveryPublishedFileHasItsDigitsInItsName) {
  for (const PublishedWeights& published : published_weights()) {
    const std::string_view file = published.file;
    ASSERT_TRUE(file.ends_with(".pth")) << file;
    const std::string_view digits = file.substr(file.rfind('-') + 1, 8);
    EXPECT_EQ(digits.find_first_not_of("0123456789abcdef"), std::string_view::npos) << file;
    EXPECT_EQ(file.size(), file.rfind('-') + 1 + 8 + 4) << file;
  }
}

}  // namespace
}  // namespace stoker
