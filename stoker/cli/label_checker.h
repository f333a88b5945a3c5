// What `stoker doctor --weights` calls; only the program with LibTorch has it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "stoker/doctor/label_suspects.h"
#include "stoker/image/decode.h"

namespace stoker {

struct LabelCheckRequest {
  std::filesystem::path folder;
  std::string weights;
  int workers = 0;
  DecodeLimits limits = {};
  std::function<void(std::uint64_t done)> progress = {};
};
using LabelChecker = std::function<LabelCheck(const LabelCheckRequest& request)>;

}  // namespace stoker
