// Flags of the commands that compute with a model: on which device, with how many threads.
#pragma once

#include <string>

#include "stoker/cli/command.h"

namespace stoker {

struct ComputeFlags {
  int workers = 0;  // that feed; 0: choose
  int threads = 0;  // of LibTorch; 0: choose
  std::string device = "auto";

  void add_to(const Command& command);
};

}  // namespace stoker
