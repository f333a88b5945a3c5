/// \file
/// The names of the losses (loss.h); without LibTorch's headers.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace stoker {

/// Which loss.
enum class LossKind { kCrossEntropy, kSquaredError };

/// "cross-entropy", "mse", in the order of the enum.
[[nodiscard]] std::span<const std::string> loss_names();
/// Throws Error with all names.
[[nodiscard]] LossKind parse_loss_kind(std::string_view name);

}  // namespace stoker
