// Flags of every command that can read shards: how many are mixed, and where those of remote stores
// are kept.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/cli/command.h"
#include "stoker/data/shards/shard_set.h"

namespace stoker {

struct ShardFlags {
  ShardOptions shards;
  std::string cache_folder;
  int store_timeout = 20;  // seconds

  void add_to(const Command& command);
  [[nodiscard]] ShardOptions options() const;
};

// "256MB", "1.5 GiB", "1000": bytes. Throws Error where it is something else.
[[nodiscard]] std::uint64_t parse_bytes(const std::string& text);

}  // namespace stoker
