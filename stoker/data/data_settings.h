// Settings of data that several commands share: which images are too large, how shards are mixed,
// and where those of remote stores are kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/core/setting.h"
#include "stoker/data/shards/shard_options.h"
#include "stoker/image/decode.h"

namespace stoker {

// What --data takes, in the same words everywhere.
[[nodiscard]] std::string data_help();

[[nodiscard]] std::vector<Setting> settings_of(DecodeLimits& limits);
[[nodiscard]] std::vector<Setting> settings_of(ShardOptions& options);

// "256MB", "1.5 GiB", "1000": bytes. Throws Error where it is something else.
[[nodiscard]] std::uint64_t parse_bytes(const std::string& text);
// In the largest unit that gives a whole number: "64GiB", "200GB", "1000B".
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}  // namespace stoker
