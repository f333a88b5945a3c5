// Flags that several commands share: which data, which policy, which seed.
#pragma once

#include <memory>
#include <string>

#include "stoker/augment/policy.h"
#include "stoker/cli/command.h"
#include "stoker/data/shards/shard_options.h"
#include "stoker/data/sources/folder_source.h"
#include "stoker/data/sources/source.h"
#include "stoker/data/sources/table_columns.h"
#include "stoker/pipeline/plan.h"

namespace stoker {

struct DataFlags {
  std::string data;
  std::string split = "train";
  std::string policy = "none";
  std::uint64_t seed = 0;
  FolderOptions images;
  ShardOptions shards;
  TableColumns table;
  bool needs_labels = true;  // false: a table without labels will do

  void add_to(const Command& command);
  [[nodiscard]] std::shared_ptr<const Source> open() const;
  [[nodiscard]] Policy parse_policy() const;
};

// "EPOCH:POSITION", e.g. "1:32000". Throws Error where it is something else.
[[nodiscard]] Cursor parse_cursor(const std::string& text);

}  // namespace stoker
