// Flags of a command that several processes run together, on one machine or many.
#pragma once

#include <chrono>
#include <string>

#include "stoker/cli/command.h"
#include "stoker/distributed/launch.h"

namespace stoker {

struct DistFlags {
  LaunchFlags launch;
  std::string backend = "auto", interface, reduce = "overlap", compression = "none";
  double timeout = 300;  // seconds
  bool sync_bn = false;

  void add_to(const Command& command);
  [[nodiscard]] std::chrono::milliseconds timeout_ms() const {
    return std::chrono::milliseconds(static_cast<std::int64_t>(timeout * 1000));
  }
};

}  // namespace stoker
