// Keys of a model file's metadata that others than its reader know.
#pragma once

namespace stoker {

// By this a model file is known: its metadata has it.
inline constexpr const char* kArchitectureKey = "stoker.architecture";

}  // namespace stoker
