#include "stoker/kernels/mirror/mirror.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/kernels/mirror/mirror_simd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// No vectors here: the plain loop is the best there is.
void mirror_row_simd(std::uint8_t* out, const std::uint8_t* in, std::size_t width, int channels) {
  mirror_row_reference(out, in, width, channels);
}

#else

// Where in 16 input bytes each output byte lies. Five colours leave one byte over: the input is
// read one byte early, and what is stored for it is overwritten by the next step.
alignas(16) constexpr std::uint8_t kGreys[16] = {15, 14, 13, 12, 11, 10, 9, 8,
                                                 7,  6,  5,  4,  3,  2,  1, 0};
alignas(16) constexpr std::uint8_t kColours[16] = {13, 14, 15, 10, 11, 12, 7, 8,
                                                   9,  4,  5,  6,  1,  2,  3, 0};

void mirror_row_simd(std::uint8_t* out, const std::uint8_t* in, std::size_t width, int channels) {
  const hn::Full128<std::uint8_t> d;
  const auto places = hn::Load(d, channels == 1 ? kGreys : kColours);
  const std::size_t step = channels == 1 ? 16 : 15, bytes = width * channels;
  std::size_t done = 0;
  for (; done + 16 <= bytes; done += step) {
    hn::StoreU(hn::TableLookupBytes(hn::LoadU(d, in + bytes - done - 16), places), d, out + done);
  }
  mirror_row_reference(out + done, in, (bytes - done) / channels, channels);
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace stoker::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {
HWY_EXPORT(mirror_row_simd);
}  // namespace

void mirror_row(std::uint8_t* out, const std::uint8_t* in, std::size_t width, int channels) {
  if (detail::use_reference_kernels()) {
    mirror_row_reference(out, in, width, channels);
  } else {
    HWY_DYNAMIC_DISPATCH(mirror_row_simd)(out, in, width, channels);
  }
}

}  // namespace stoker
#endif  // HWY_ONCE
