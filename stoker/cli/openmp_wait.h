// How long threads of OpenMP spin before they sleep.
//
// LibTorch computes with libgomp, whose threads spin about 3 ms at every barrier. Where another
// process needs a CPU, the thread that everybody waits for is the one that has none, and all others
// spin through their time slices: one busy process beside training made it 20 to 40 times slower on
// two CPUs. With 1,000 spins (some microseconds) waiting threads sleep, and an idle machine is as
// fast as before. How long threads wait changes no bit of a result.
//
// libgomp reads the setting in its constructor, before main(). So the program puts it into its
// environment and executes itself once. This happens before the constructors of LibTorch, which
// therefore run only once. All functions here may be called before libc is initialised: they
// allocate nothing and read only their arguments.
#pragma once

namespace stoker {

// The setting, as a line of the environment.
inline constexpr const char* kShortSpinning = "GOMP_SPINCOUNT=1000";

// True for a command that computes with LibTorch, unless the environment already says how threads
// wait (GOMP_SPINCOUNT or OMP_WAIT_POLICY). False after a restart, which sets one of them.
[[nodiscard]] bool needs_short_spinning(int argc, const char* const* argv,
                                        const char* const* environment) noexcept;

// Executes this program again with the setting, where needs_short_spinning(). Returns otherwise,
// and where the system refuses: the program then runs as it is.
void restart_with_short_spinning(int argc, char** argv, char** environment) noexcept;

}  // namespace stoker
