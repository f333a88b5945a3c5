// Work on an image's rows in as many threads as it is worth, in contiguous bands. Waking a thread
// takes some microseconds, so small work stays with the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace stoker::detail {

// Threads for `steps` of which a core does `steps_per_thread` in the time that makes a thread worth
// its start. `wanted` is what the user asked for, 0 where nothing.
[[nodiscard]] int worthwhile_threads(int wanted, double steps, double steps_per_thread);

// Calls work(begin, end) for bands of [0, rows), each but the last a multiple of `multiple` rows.
// An exception of a band, the first of them, is thrown after all have ended.
void for_row_bands(int rows, int multiple, int threads, const std::function<void(int, int)>& work);

}  // namespace stoker::detail
