// Fetches one file over HTTP into a folder: whole and with the expected SHA-256, or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "stoker/store/retry.h"

namespace stoker {

struct FetchRequest {
  std::string prefix;                              // http://… or https://…, without the name
  std::string name;                                // of the file, relative to it
  std::filesystem::path target;                    // the file to write; its folder is made
  std::string sha256;                              // the first digits, in lower case; at least 8
  std::uint64_t at_most = std::uint64_t{8} << 30;  // bytes
  RetryOptions retry = {};
  // Bytes so far and of the whole; 0: not known. What it throws ends the transfer.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
  std::stop_token stop = {};
};

// What was there stays until the new file is whole. Throws Error where the file is not there, its
// transfer fails again and again, it is too long, or its SHA-256 begins with other digits.
void fetch_file(const FetchRequest& request);

}  // namespace stoker
