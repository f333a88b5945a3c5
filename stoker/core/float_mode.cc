#include "stoker/core/float_mode.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace stoker {
namespace {

// The control register, and its bits for results and inputs.
#if defined(__x86_64__)
using Control = unsigned;
constexpr Control kFlush = 0x8040;
Control control() noexcept { return _mm_getcsr(); }
void set_control(Control value) noexcept { _mm_setcsr(value); }
#elif defined(__aarch64__)
using Control = std::uint64_t;
constexpr Control kFlush = Control{1} << 24;
Control control() noexcept {
  Control value = 0;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
void set_control(Control value) noexcept { asm volatile("msr fpcr, %0" : : "r"(value)); }
#else
using Control = unsigned;
constexpr Control kFlush = 1;
Control control() noexcept { return 0; }
void set_control(Control /*value*/) noexcept {}
#endif

}  // namespace

FloatMode float_mode() noexcept {
  return (control() & kFlush) == kFlush ? FloatMode::kFlushSubnormals : FloatMode::kExact;
}

void set_float_mode(FloatMode mode) noexcept {
  const Control others = control() & ~kFlush;
  set_control(mode == FloatMode::kExact ? others : others | kFlush);
}

}  // namespace stoker
