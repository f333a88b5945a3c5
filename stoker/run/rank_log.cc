#include "stoker/run/rank_log.h"

#include <cstdio>

#include <fmt/format.h>

#include "stoker/run/run_facts.h"

namespace stoker {

RankLog::RankLog(const std::filesystem::path& folder, int rank)
    : path_(folder / fmt::format("rank-{}.log", rank)), rank_(rank) {}

void RankLog::say(const std::string& line) const noexcept {
  try {
    std::FILE* file = std::fopen(path_.c_str(), "ae");
    if (file == nullptr) {
      fmt::print(stderr, "rank {}: {}\n", rank_, line);
      return;
    }
    fmt::print(file, "{}  {}\n", utc_time(), line);
    std::fclose(file);
  } catch (const std::exception&) {
    // A log is no reason to end a run.
  }
}

void RankLog::diverged(const State& state, const std::string& how) {
  say(fmt::format("diverged at step {}: {}", state.step, how));
}

void RankLog::epoch_done(const EpochReport& report) {
  const StepTimes& t = report.times;
  say(fmt::format(
      "epoch {}  step {}  {:.1f} s: data wait {:.2f}, forward {:.2f}, backward and sums "
      "{:.2f}, optimiser {:.2f}",
      report.epoch + 1, report.state.step, report.seconds, t.wait, t.forward, t.backward, t.step));
  for (const SampleFault& fault : report.validation_faults) {
    say(fmt::format("skipped in validation: {}: {}", fault.name, fault.reason));
  }
}

}  // namespace stoker
