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
constexpr std::string_view kVnni = "avx3_vnni";

std::atomic<bool> reference_forced = false;
std::atomic<bool> vnni_chosen = false;

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

// Highway 1.0 knows these instructions only together with others, so they are asked for here.
bool vnni_supported() {
#if HWY_ARCH_X86_64
  return (hwy::SupportedTargets() & HWY_TARGETS & HWY_AVX3) != 0 &&
         __builtin_cpu_supports("avx512vnni") != 0 && __builtin_cpu_supports("avx512vbmi") != 0;
#else
  return false;
#endif
}

void take(std::int64_t targets, bool vnni) {
  hwy::GetChosenTarget().Update(targets);
  vnni_chosen = vnni;
  reference_forced = false;
}

void choose(std::string_view name) {
  const std::string wanted = lower_case(name);
  if (wanted == kReference) {
    reference_forced = true;
    return;
  }
  if (wanted == "auto") return take(hwy::SupportedTargets(), vnni_supported());
  if (wanted == kVnni && vnni_supported()) return take(HWY_AVX3, true);
  for (const std::int64_t target : targets_slowest_first()) {
    if (wanted == name_of(target)) return take(target, false);
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
  if (vnni_supported()) names.emplace_back(kVnni);
  return names;
}

std::string active_simd() {
  read_environment_once();
  if (reference_forced) return std::string(kReference);
  const std::int64_t target = HWY_DYNAMIC_DISPATCH(running_target)();
  return target == HWY_AVX3 && vnni_chosen ? std::string(kVnni) : name_of(target);
}

void force_simd(std::string_view name) {
  read_environment_once();
  choose(name);
}

bool detail::use_reference_kernels() {
  read_environment_once();
  return reference_forced.load(std::memory_order_relaxed);
}

bool detail::use_vnni_kernels() {
  read_environment_once();
  return vnni_chosen.load(std::memory_order_relaxed) && !use_reference_kernels();
}

}  // namespace stoker
#endif  // HWY_ONCE
