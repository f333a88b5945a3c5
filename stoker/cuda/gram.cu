#include "stoker/cuda/detail/launcher.h"

namespace stoker::cuda {

template <class T>
void launch_gram(const Plane<T>& out, const Plane<const T>& x, Variant variant, Stream stream) {
  detail::check_gram(detail::PlaneSize(out), detail::PlaneSize(x));
  run_gram<T>(detail::DeviceLauncher{"X·Xᵀ", stream}, out.data, x.data,
              GramShape{x.rows, x.columns, x.stride, out.stride}, variant);
}

template void launch_gram<float>(const Plane<float>&, const Plane<const float>&, Variant, Stream);
template void launch_gram<double>(const Plane<double>&, const Plane<const double>&, Variant,
                                  Stream);

}  // namespace stoker::cuda
