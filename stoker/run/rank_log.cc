#include "stoker/run/rank_log.h"

#include <cstdio>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/plain_text.h"
#include "stoker/run/append_to_file.h"
#include "stoker/run/run_facts.h"

namespace stoker {

RankLog::RankLog(const std::filesystem::path& folder, int rank)
    : path_(folder / fmt::format("rank-{}.log", rank)), rank_(rank) {}

void RankLog::say(const std::string& line) const noexcept {
  try {
    const std::string text = plain_lines(line);
    try {
      append_to_file(path_, fmt::format("{}  {}\n", utc_time(), text));
    } catch (const Error&) {
      fmt::print(stderr, "rank {}: {}\n", rank_, text);
    }
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
