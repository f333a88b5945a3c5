#include "stoker/kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/kernels/simd.cc"
#include <hwy/foreach_target.h>
// After foreach_target, which includes this file once for each target.
#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::HWY_NAMESPACE {
// Compiled once for each target, so the answer tells which one the dispatcher really took.
std::int64_t running_target() { return HWY_TARGET; }
}  // namespace stoker::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

HWY_EXPORT(running_target);
constexpr std::string_view kReference = "reference";

std::atomic<bool> reference_forced = false;

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// What the program is called on a target: where Highway has no vectors, kernels take the plain
// loops.
std::string name_of(std::int64_t target) {
  return target == HWY_SCALAR ? std::string(kReference) : lower_case(hwy::TargetName(target));
}

std::vector<std::int64_t> targets_slowest_first() {
  auto targets = hwy::SupportedAndGeneratedTargets();
  std::erase(targets, HWY_SCALAR);
  std::reverse(targets.begin(), targets.end());  // Highway numbers better targets lower
  return targets;
}

void choose(std::string_view name) {
  const std::string wanted = lower_case(name);
  if (wanted == kReference) {
    reference_forced = true;
    return;
  }
  if (wanted == "auto") {
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    reference_forced = false;
    return;
  }
  for (const std::int64_t target : targets_slowest_first()) {
    if (wanted != name_of(target)) continue;
    hwy::GetChosenTarget().Update(target);
    reference_forced = false;
    return;
  }
  throw Error({.what = "cannot use the SIMD version that was asked for",
               .expected = fmt::format("auto or one of {}", fmt::join(available_simd(), ", ")),
               .found = fmt::format("\"{}\"", name),
               .hint = "this CPU and build offer no others; see STOKER_SIMD"});
}

void read_environment_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    const char* name = std::getenv("STOKER_SIMD");
    choose(name == nullptr || *name == '\0' ? "auto" : name);
  });
}

}  // namespace

std::vector<std::string> available_simd() {
  std::vector<std::string> names = {std::string(kReference)};
  for (const std::int64_t target : targets_slowest_first()) {
    names.push_back(name_of(target));
  }
  return names;
}

std::string active_simd() {
  read_environment_once();
  if (reference_forced) return std::string(kReference);
  return name_of(HWY_DYNAMIC_DISPATCH(running_target)());
}

void force_simd(std::string_view name) {
  read_environment_once();
  choose(name);
}

bool detail::use_reference_kernels() {
  read_environment_once();
  return reference_forced.load(std::memory_order_relaxed);
}

}  // namespace stoker
#endif  // HWY_ONCE
