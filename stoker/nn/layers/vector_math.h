// The vector functions of the mathematics library under LibTorch, made safe to use from several
// threads.
//
// MKL looks up which version of log, sqrt, ... to run when a process first calls it. Where several
// threads of LibTorch make that first call together, one of them may get a version of low accuracy
// for its part of the values, once (pytorch/pytorch issue 188792, MKL 2024.2). A loss then depends
// on timing, by about one part in 10^6.
#pragma once

namespace stoker {

// Makes the first calls, alone. Cheap (under a millisecond) and done once in a process; any thread.
void settle_vector_math();

}  // namespace stoker
