// What a sample is labelled with, as people read it.
#pragma once

#include <span>
#include <string>

#include "stoker/data/sources/fields.h"

namespace stoker {

// "cat;outdoor" of several classes, "nothing" where it has none of them, "angle 12.5, size 3" of
// numbers to predict; "" where the fields hold neither. `numbers` are those of Source::read_fields.
[[nodiscard]] std::string fields_text(std::span<const FieldInfo> fields,
                                      std::span<const float> numbers);

}  // namespace stoker
