#include "stoker/cuda/detail/launcher.h"

namespace stoker::cuda {

template <class In, class T>
void launch_sobel(const Plane<T>& out, const Plane<const In>& image, const Plane<const T>& filter,
                  Stream stream) {
  detail::check_filter("sobel", detail::PlaneSize(out), detail::PlaneSize(image),
                       detail::PlaneSize(filter), 0);
  run_sobel<In, T>(detail::DeviceLauncher{"sobel", stream}, out.data, image.data,
                   PlaneShape{image.rows, image.columns, image.stride, out.stride}, filter.data,
                   KernelShape{filter.rows, filter.columns});
}

template <class In, class T>
void launch_constant_sobel(const Plane<T>& out, const Plane<const In>& image,
                           const Plane<const T>& filter, Stream stream) {
  detail::check_filter("sobel", detail::PlaneSize(out), detail::PlaneSize(image),
                       detail::PlaneSize(filter), 2 * kMostSobelReach + 1);
  run_constant_sobel<In, T>(detail::DeviceLauncher{"sobel", stream}, out.data, image.data,
                            PlaneShape{image.rows, image.columns, image.stride, out.stride},
                            filter.data, KernelShape{filter.rows, filter.columns});
}

#define STOKER_INSTANTIATE(In, T)                                                     \
  template void launch_sobel<In, T>(const Plane<T>&, const Plane<const In>&,          \
                                    const Plane<const T>&, Stream);                   \
  template void launch_constant_sobel<In, T>(const Plane<T>&, const Plane<const In>&, \
                                             const Plane<const T>&, Stream)
STOKER_INSTANTIATE(float, float);
STOKER_INSTANTIATE(double, double);
STOKER_INSTANTIATE(std::uint8_t, float);

}  // namespace stoker::cuda
