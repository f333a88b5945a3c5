// Work in LibTorch's own compute threads. Not by at::parallel_for: it is a template, parallel only
// where the caller is compiled with OpenMP, and the compiler's OpenMP would be a second one beside
// that of LibTorch's package.
#pragma once

#include <cstdint>
#include <functional>

namespace stoker {

// Calls work(part) for each part of [0, parts), in neighbouring runs of equal length: one for each
// of at::get_num_threads() threads. With as many parts as threads, each thread has one. Starts no
// thread for fewer than `least` parts.
void for_parts(std::int64_t parts, const std::function<void(std::int64_t part)>& work,
               std::int64_t least = 1);

}  // namespace stoker
