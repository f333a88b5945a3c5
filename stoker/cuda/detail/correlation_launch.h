// For correlation_f32.cu and correlation_others.cu, which are compiled side by side.
#pragma once

#include "stoker/cuda/detail/launcher.h"

namespace stoker::cuda {

template <class In, class T>
void launch_correlation(const Plane<T>& out, const Plane<const In>& image,
                        const Plane<const T>& kernel, Variant variant, Stream stream) {
  detail::check_filter("correlation", detail::PlaneSize(out), detail::PlaneSize(image),
                       detail::PlaneSize(kernel), 0);
  run_correlation<In, T>(detail::DeviceLauncher{"correlation", stream}, out.data, image.data,
                         PlaneShape{image.rows, image.columns, image.stride, out.stride},
                         kernel.data, KernelShape{kernel.rows, kernel.columns}, variant);
}

template <class In, class T>
void launch_constant_correlation(const Plane<T>& out, const Plane<const In>& image,
                                 const Plane<const T>& kernel, Stream stream) {
  detail::check_filter("correlation", detail::PlaneSize(out), detail::PlaneSize(image),
                       detail::PlaneSize(kernel), 2 * kMostCorrelationReach + 1);
  run_constant_correlation<In, T>(detail::DeviceLauncher{"correlation", stream}, out.data,
                                  image.data,
                                  PlaneShape{image.rows, image.columns, image.stride, out.stride},
                                  kernel.data, KernelShape{kernel.rows, kernel.columns});
}

#define STOKER_INSTANTIATE(In, T)                                                           \
  template void launch_correlation<In, T>(const Plane<T>&, const Plane<const In>&,          \
                                          const Plane<const T>&, Variant, Stream);          \
  template void launch_constant_correlation<In, T>(const Plane<T>&, const Plane<const In>&, \
                                                   const Plane<const T>&, Stream)

}  // namespace stoker::cuda
