// stoker and stoker-trainer. Loading LibTorch takes longer than most commands that do without it,
// so these are a program of their own, which becomes the other one (execve) where it must. The
// process keeps its number and its name.
//
// On the way it sets how long threads of OpenMP spin before they sleep. LibTorch computes with
// libgomp, whose threads spin about 3 ms at every barrier. Where another process needs a CPU, the
// thread that everybody waits for is the one that has none, and all others spin through their time
// slices: one busy process beside training made it 9 times slower on two CPUs (docs/workers.md).
// With 1,000 spins (about 0.01 ms) they sleep soon, which costs 6 to 10 % of the idle speed. How
// long threads wait changes no bit of a result. libgomp reads the setting before main().
#pragma once

#include <string>

namespace stoker {

// The setting, as name and value in the environment.
inline constexpr const char* kSpinName = "GOMP_SPINCOUNT";
inline constexpr const char* kSpinValue = "1000";

// True for a command that computes with LibTorch, unless the environment already says how threads
// wait (GOMP_SPINCOUNT or OMP_WAIT_POLICY).
[[nodiscard]] bool needs_short_spinning(int argc, const char* const* argv,
                                        const char* const* environment) noexcept;

// Executes stoker-trainer with the same words. Packages do not contain LibTorch: it is looked for
// (find_libtorch.h) and handed to the loader. Returns where there is no trainer (a build of the
// feed alone), and where there is no LibTorch for words that are no command of the trainer, such as
// --help. Throws Error where LibTorch is missing, or the system refuses.
void become_trainer(int argc, char** argv);

// The trainer's first act: gives processes that it starts the user's LD_LIBRARY_PATH.
void restore_library_path();

// The program that users call, also where this is the other one.
[[nodiscard]] std::string program_path();

}  // namespace stoker
