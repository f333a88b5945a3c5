#include "stoker/data/data_settings.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

TEST(DataSettings, BytesAreReadAndWritten) {
  for (const auto& [text, bytes] :
       std::vector<std::pair<std::string, std::uint64_t>>{{"64GiB", std::uint64_t{64} << 30},
                                                          {"200GB", 200'000'000'000},
                                                          {"1KiB", 1024},
                                                          {"1KB", 1000},
                                                          {"1025B", 1025},
                                                          {"3TiB", std::uint64_t{3} << 40},
                                                          {"0B", 0}}) {
    EXPECT_EQ(parse_bytes(text), bytes) << text;
    EXPECT_EQ(bytes_text(bytes), text);
  }
  EXPECT_EQ(parse_bytes("1.5 GiB"), std::uint64_t{3} << 29);
  EXPECT_EQ(bytes_text(parse_bytes("1000000")), "1MB");
  for (const char* wrong : {"", "GB", "-1B", "1XB", "1e30GB"}) {
    EXPECT_THROW(static_cast<void>(parse_bytes(wrong)), Error) << wrong;
  }
}

TEST(DataSettings, AnImagesPageIsCountedFrom0) {
  FolderOptions images;
  const std::vector<Setting> all = settings_of(images);
  const auto page = std::ranges::find(all, "page", &Setting::name);
  ASSERT_NE(page, all.end());
  set_texts(*page, {"3"});
  EXPECT_EQ(images.page, 3);
  for (const char* wrong : {"-1", "65535", "first"}) {
    EXPECT_THROW(set_texts(*page, {wrong}), Error) << wrong;
  }
  EXPECT_NE(std::ranges::find(all, "max-pixels", &Setting::name), all.end());
}

TEST(DataSettings, WindowsAreReadAndWritten) {
  FolderOptions images;
  const std::vector<Setting> all = settings_of(images);
  const auto window = std::ranges::find(all, "window", &Setting::name);
  ASSERT_NE(window, all.end());
  for (const auto& [text, expected] :
       std::vector<std::pair<std::string, std::optional<ValueWindow>>>{
           {"100,4000", ValueWindow{.low = 100, .high = 4000}},
           {"0,65535", ValueWindow{}},
           {"image", ValueWindow{.of_image = true}},
           {"", std::nullopt}}) {
    set_texts(*window, {text});
    EXPECT_EQ(images.window, expected) << text;
    EXPECT_EQ(texts_of(*window).front(), text);
  }
  for (const char* wrong : {"1", "5,5", "9,3", "-1,5", "0,65536", "1,2,3", "Image", "1;2"}) {
    EXPECT_THROW(set_texts(*window, {wrong}), Error) << wrong;
  }
}

TEST(DataSettings, DepthAndChannelsHaveFewChoices) {
  FolderOptions images;
  const std::vector<Setting> all = settings_of(images);
  const auto set = [&](const char* name, const char* text) {
    set_texts(*std::ranges::find(all, name, &Setting::name), {text});
  };
  set("depth", "16");
  set("channels", "4");
  EXPECT_EQ(images.depth, 16);
  EXPECT_EQ(images.channels, 4);
  EXPECT_THROW(set("depth", "12"), Error);
  EXPECT_THROW(set("channels", "2"), Error);
  images.window = ValueWindow{};
  EXPECT_NO_THROW(check_folder_options(images));
  images.depth = 8;
  EXPECT_THROW(check_folder_options(images), Error);
}

TEST(DataSettings, ShardsAreReadAndWritten) {
  ShardOptions options;
  const std::vector<Setting> all = settings_of(options);
  const auto set = [&](const std::string& name, const std::string& text) {
    const auto found = std::ranges::find(all, name, &Setting::name);
    ASSERT_NE(found, all.end()) << name;
    set_texts(*found, {text});
    EXPECT_EQ(texts_of(*found).front(), text);
  };
  set("cache-dir", "/some/where");
  EXPECT_EQ(options.cache_folder, "/some/where");
  set("cache-dir", "");
  EXPECT_FALSE(options.cache_folder);
  set("cache-size", "10MB");
  set("store-timeout", "7");
  EXPECT_EQ(options.store.retry.stall.count(), 7);
  EXPECT_THROW(set("store-timeout", "0"), Error);
  EXPECT_FALSE(options.store.follow_redirects);
  set("follow-redirects", "true");
  EXPECT_TRUE(options.store.follow_redirects);
  EXPECT_THROW(set("shuffle-window", "0"), Error);
}

TEST(DataSettings, ColumnsAreReadAndWritten) {
  TableColumns columns;
  const std::vector<Setting> all = settings_of(columns);
  const auto set = [&](const std::string& name, const std::string& text) {
    const auto found = std::ranges::find(all, name, &Setting::name);
    ASSERT_NE(found, all.end()) << name;
    set_texts(*found, {text});
    EXPECT_EQ(texts_of(*found).front(), text);
  };
  set("labels", "cat,\"big, dog\",\"5\"\" disk\"");
  EXPECT_EQ(columns.labels, (std::vector<std::string>{"cat", "big, dog", "5\" disk"}));
  set("labels", "");
  set("target", "angle,size");
  set("label", "species");
  set("path-column", "file");
  set("split-column", "none");
  set("weight-column", "w");
  EXPECT_EQ(columns, (TableColumns{.path = "file",
                                   .label = "species",
                                   .split = "none",
                                   .weight = "w",
                                   .targets = {"angle", "size"}}));
  EXPECT_THROW(set("labels", "\"open"), Error);
}

}  // namespace
}  // namespace stoker
