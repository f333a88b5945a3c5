// AugMix (Hendrycks et al., 2019), with the changes and ranges of torchvision.
#pragma once

#include "stoker/augment/operation.h"

namespace stoker {

// m image + (1 - m) (w1 chain1 + w2 chain2 + …), rounded, where a chain is the image after some
// changes of thirteen, m is drawn from Beta(alpha, alpha) and the w from a Dirichlet distribution
// of alpha. Weights are whole 32768ths, so the sum is exact. (torchvision drops the fraction
// instead of rounding.)
[[nodiscard]] OperationSchema augmix_schema();

}  // namespace stoker
