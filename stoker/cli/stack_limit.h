// Stacks for this process's threads where its limit (`ulimit -s`) is too small for them: computing
// would end in a segmentation fault.
#pragma once

namespace stoker {

// Raises a small limit as far as the system allows, for this thread, later threads and later
// programs. Throws Error where that is not enough. Call it first.
void provide_stack();

}  // namespace stoker
