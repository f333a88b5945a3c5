// LibTorch's errors in our words: memory that is used up says what to do, and its stack of
// addresses stays away from the reader.
#pragma once

#include <functional>

namespace stoker {

// Runs the action. What LibTorch throws, and std::bad_alloc, becomes an Error.
void translate_torch_errors(const std::function<void()>& action);

}  // namespace stoker
