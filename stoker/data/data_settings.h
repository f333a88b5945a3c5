// Settings of data that several commands share: which images are too large, which columns of a
// table are used, how shards are mixed, and where those of remote stores are kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/core/setting.h"
#include "stoker/data/shards/shard_options.h"
#include "stoker/data/sources/folder_source.h"
#include "stoker/data/sources/table_columns.h"
#include "stoker/image/decode.h"

namespace stoker {

// What --data takes, in the same words everywhere.
[[nodiscard]] std::string data_help();

[[nodiscard]] std::vector<Setting> settings_of(DecodeLimits& limits);
// Limits, and which page of a file.
[[nodiscard]] std::vector<Setting> file_settings_of(FolderOptions& images);
// The same, and how images become pixels: for commands that do not take that from a model.
[[nodiscard]] std::vector<Setting> settings_of(FolderOptions& images);
[[nodiscard]] std::vector<Setting> settings_of(ShardOptions& options);
[[nodiscard]] std::vector<Setting> settings_of(TableColumns& columns);

// "100,4000", "image", or "" where there is none.
[[nodiscard]] std::string window_text(const std::optional<ValueWindow>& window);
// Throws Error where it is something else.
[[nodiscard]] std::optional<ValueWindow> parse_window(const std::string& text);

// "256MB", "1.5 GiB", "1000": bytes. Throws Error where it is something else.
[[nodiscard]] std::uint64_t parse_bytes(const std::string& text);
// In the largest unit that gives a whole number: "64GiB", "200GB", "1000B".
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}  // namespace stoker
