// STOKER_INVARIANT: a condition that only a bug of ours can break, checked in release builds too.
// User input must never reach it; see error.h for what does. Costs a comparison; the values are
// formatted only on failure.
#pragma once

#include <string>

#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker::detail {

[[noreturn]] void fail_invariant(const char* condition, const char* file, int line,
                                 const std::string& values);

}  // namespace stoker::detail

// STOKER_INVARIANT(a < b, "a={} b={}", a, b)
#define STOKER_INVARIANT(condition, ...)                                                          \
  do {                                                                                            \
    if (!(condition)) [[unlikely]] {                                                              \
      ::stoker::detail::fail_invariant(#condition, __FILE__, __LINE__, fmt::format(__VA_ARGS__)); \
    }                                                                                             \
  } while (false)
