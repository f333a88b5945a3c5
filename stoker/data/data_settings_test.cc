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
  EXPECT_THROW(set("shuffle-window", "0"), Error);
}

}  // namespace
}  // namespace stoker
