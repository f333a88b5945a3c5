/// \file
/// The data-order version: which releases give the same bytes. docs/stability.md says what it
/// covers.
#pragma once

#include <string_view>

#include "stoker/export.h"

namespace stoker {

/// Changes when the same data, settings and seed give other bytes than before: another order of
/// samples, another division into parts, other pixels after decoding and augmentation, other
/// initial weights or dropout masks. Digests and checkpoints of two versions cannot be compared.
inline constexpr int kDataOrderVersion = 1;

/// This release: "0.2.0".
[[nodiscard]] STOKER_API std::string_view release_version() noexcept;

}  // namespace stoker
