#include "stoker/distributed/detail/cpu_share.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/cpu_budget.h"

namespace stoker::detail {
namespace {

struct Seen {
  std::string machine;
  std::vector<int> cpus;  // ascending
};

Seen parse(const std::string& text) {
  Seen seen;
  std::istringstream words(text);
  words >> seen.machine;
  char comma = 0;
  for (int cpu = 0; words >> cpu; words >> comma) seen.cpus.push_back(cpu);
  return seen;
}

}  // namespace

std::string own_cpus_text() {
  // Not the host's name: containers on one machine have different ones.
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string machine;
  if (!(file >> machine)) machine = "unknown";
  return fmt::format("{} {}", machine, fmt::join(affinity_cpus(), ","));
}

double cpu_share(const std::vector<std::string>& texts_of_ranks, int rank) {
  const Seen mine = parse(texts_of_ranks[static_cast<std::size_t>(rank)]);
  if (mine.cpus.empty()) return 1;
  std::vector<int> users(mine.cpus.size());
  for (const std::string& text : texts_of_ranks) {
    const Seen other = parse(text);
    if (other.machine != mine.machine) continue;
    for (std::size_t i = 0; i < users.size(); ++i) {
      users[i] += std::ranges::binary_search(other.cpus, mine.cpus[i]) ? 1 : 0;
    }
  }
  double share = 0;
  for (const int count : users) share += 1.0 / count;
  return share / static_cast<double>(users.size());
}

}  // namespace stoker::detail
