#include "stoker/cuda/detail/launcher.h"

namespace stoker::cuda {

template <class T>
void launch_maximum(const Plane<T>& out, const Plane<const T>& a, const Plane<const T>& b,
                    Variant variant, Stream stream) {
  detail::check_maximum(detail::PlaneSize(out), detail::PlaneSize(a), detail::PlaneSize(b));
  run_maximum<T>(detail::DeviceLauncher{"maximum", stream}, out.data, a.data, b.data,
                 static_cast<std::int64_t>(out.size()), variant);
}

#define STOKER_INSTANTIATE(T)                                                                    \
  template void launch_maximum<T>(const Plane<T>&, const Plane<const T>&, const Plane<const T>&, \
                                  Variant, Stream)
STOKER_INSTANTIATE(std::uint8_t);
STOKER_INSTANTIATE(std::int32_t);
STOKER_INSTANTIATE(std::int64_t);

}  // namespace stoker::cuda
