#include "stoker/kernels/gram/gram.h"

namespace stoker {
namespace {

template <class T>
void gram_all(const Plane<T>& out, const Plane<const T>& x) {
  for (int i = 0; i < x.rows; ++i) {
    for (int j = 0; j < x.rows; ++j) {
      T sum = 0;
      for (int k = 0; k < x.columns; ++k) sum += x.at(i, k) * x.at(j, k);
      out.at(i, j) = sum;
    }
  }
}

}  // namespace

void gram_reference(const Plane<float>& out, const Plane<const float>& x) { gram_all(out, x); }

void gram_reference(const Plane<double>& out, const Plane<const double>& x) { gram_all(out, x); }

}  // namespace stoker
