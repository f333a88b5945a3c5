// For tests: a Launcher that simulates, and what it saw.
#pragma once

#include <string_view>
#include <type_traits>
#include <vector>

#include "stoker/core/rng.h"
#include "stoker/cuda/dispatch.h"

namespace stoker::cuda {

struct SimulatedLaunch {
  std::uint64_t seed = 0;
  std::string_view omit_barrier = {};
  bool check_races = true;
  LaunchSize grid = {};
  LaunchSize block = {};
  int launches = 0;
  SimulatorReport report = {};

  template <class... Parameters, class... Arguments>
  void operator()(void (*kernel)(Parameters...), LaunchSize grid_size, LaunchSize block_size,
                  const Arguments&... arguments) {
    grid = grid_size;
    block = block_size;
    ++launches;
    report = simulate({.grid = {.x = grid.x, .y = grid.y},
                       .block = {.x = block.x, .y = block.y},
                       .seed = seed,
                       .omit_barrier = omit_barrier,
                       .check_races = check_races},
                      [&] { kernel(arguments...); });
  }
};

// Whole numbers, also for float: their sums are exact, so tests can demand equality.
template <class T>
std::vector<T> random_values(std::size_t count, std::uint64_t seed, int low = -20, int high = 20) {
  Rng rng({.seed = seed}, 0);
  if (std::is_unsigned_v<T>) low = 0, high = 255;
  std::vector<T> values(count);
  for (auto& value : values) {
    const auto draw = rng.uniform_int(static_cast<std::uint32_t>(high - low + 1));
    value = static_cast<T>(low + static_cast<int>(draw));
  }
  return values;
}

}  // namespace stoker::cuda
