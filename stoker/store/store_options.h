/// \file
/// How remote stores are reached: where credentials are looked up, and how often a request that
/// failed is made again. Plain values.
#pragma once

#include <chrono>

#include "stoker/core/environment.h"

namespace stoker {

/// When a request is given up, and when it is made again.
struct RetryOptions {
  int tries = 8;                              ///< in all
  std::chrono::milliseconds first_wait{100};  ///< doubled each time
  std::chrono::milliseconds longest_wait{10'000};
  std::chrono::seconds connect{10};  ///< to be connected within
  std::chrono::seconds stall{20};    ///< less than a kilobyte a second for so long: failed
};

/// How a store is opened.
struct StoreOptions {
  Environment environment =
      environment_variable;  ///< where credentials and endpoints are looked up
  RetryOptions retry = {};
  bool follow_redirects =
      false;  ///< of http:// and https:// to other hosts, where nothing is signed
};

}  // namespace stoker
