#pragma once

#include <optional>

#include "stoker/core/error.h"
#include "stoker/data/sources/source.h"

namespace stoker {

// The shape that all samples have; nothing where they may differ in size.
inline std::optional<ImageShape> common_shape(const Source& source) {
  try {
    return source.shape();
  } catch (const Error&) {
    return {};
  }
}

}  // namespace stoker
