#include "stoker/distributed/detail/attempt.h"

#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stoker::detail {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPollInterval = std::chrono::milliseconds(10);

// Of one process; not of a run, whose randomness comes from its seed alone.
std::string unique_name() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}", device(), device(), device());
}

std::string hello_key(int rank, int ranks) { return fmt::format("hello/{}/{}", ranks, rank); }
std::string welcome_key(const std::string& name) { return "welcome/" + name; }
std::string here_key(const std::string& attempt, int rank) {
  return fmt::format("here/{}/{}", attempt, rank);
}

// Greets whoever says hello as this rank, again and again: what stands there may be from a process
// that is gone, and is written over by the one that takes its place. True when it has answered.
bool greet(c10d::Store& store, const std::string& attempt, int rank, int ranks) {
  if (store.check({here_key(attempt, rank)})) return true;
  if (!store.check({hello_key(rank, ranks)})) return false;
  const std::string name = store.get_to_str(hello_key(rank, ranks));
  if (!store.check({welcome_key(name)})) store.set(welcome_key(name), attempt);
  return false;
}

std::string lead(c10d::Store& store, int ranks, Clock::time_point deadline) {
  std::string attempt = unique_name();
  std::vector<int> missing;
  for (int rank = 1; rank < ranks; ++rank) missing.push_back(rank);
  while (true) {
    std::erase_if(missing, [&](int rank) { return greet(store, attempt, rank, ranks); });
    if (missing.empty()) return attempt;
    if (Clock::now() > deadline) {
      throw std::runtime_error(fmt::format("nothing from rank {}", fmt::join(missing, ", ")));
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

}  // namespace

std::string agree_on_attempt(const c10::intrusive_ptr<c10d::Store>& store, int rank, int ranks,
                             std::chrono::milliseconds timeout) {
  if (rank == 0) return lead(*store, ranks, Clock::now() + timeout);
  const std::string name = unique_name();
  store->set(hello_key(rank, ranks), name);
  store->wait({welcome_key(name)}, timeout);
  std::string attempt = store->get_to_str(welcome_key(name));
  store->set(here_key(attempt, rank), "1");
  return attempt;
}

}  // namespace stoker::detail
