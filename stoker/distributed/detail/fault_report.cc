#include "stoker/distributed/detail/fault_report.h"

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include <fmt/format.h>

namespace stoker::detail {
namespace {

using Clock = std::chrono::steady_clock;

// Longer with many ranks, so that their requests together do not grow with the square of them.
std::chrono::milliseconds report_interval(int ranks) {
  return std::chrono::milliseconds(50 + ranks / 2);
}

// Whoever has noticed writes the first. Those with an error of their own take the next number of
// kFailures and write rank and text under it: so nobody has to read a line of every rank.
std::string noticed_key(int rank) { return fmt::format("noticed/{}", rank); }
constexpr const char* kFailures = "failures";
std::string failure_key(std::int64_t number) { return fmt::format("failure/{}", number); }

// What the thread that talks to the store has found so far. It may outlive the one who asked: a
// call to a store behind a cut link does not return.
struct Findings {
  std::mutex mutex;
  std::condition_variable changed;
  FaultReport report;
  bool done = false;
};

class Exchange {
 public:
  Exchange(c10::intrusive_ptr<c10d::Store> store, int rank, int ranks,
           std::shared_ptr<Findings> findings)
      : store_(std::move(store)),
        findings_(std::move(findings)),
        rank_(rank),
        interval_(report_interval(ranks)) {
    for (int other = 0; other < ranks; ++other) {
      if (other != rank) others_.push_back(other);
    }
  }

  void run(const std::string& own_error, const FaultPatience& patience) {
    const auto begin = Clock::now();
    try {
      if (!own_error.empty()) {
        store_->set(failure_key(store_->add(kFailures, 1)), fmt::format("{} {}", rank_, own_error));
      }
      store_->set(noticed_key(rank_), "1");
      const auto left = [&] {
        const bool known = !own_error.empty() || has_cause();
        return Clock::now() < begin + (known ? patience.with_cause : patience.without_cause);
      };
      while (look_around() && left()) std::this_thread::sleep_for(interval_);
    } catch (const std::exception&) {
      // The store is gone: what was found before stays.
    }
    const std::lock_guard lock(findings_->mutex);
    findings_->done = true;
    findings_->changed.notify_all();
  }

 private:
  [[nodiscard]] bool has_cause() const {
    const std::lock_guard lock(findings_->mutex);
    return !findings_->report.failed.empty();
  }

  // True while somebody is missing. Failures come last: whoever has noticed wrote its own before.
  bool look_around() {
    std::vector<int> silent;
    find_silent(others_, silent);
    read_failures();
    const std::lock_guard lock(findings_->mutex);
    findings_->report.store_answers = true;
    findings_->report.silent = std::move(silent);
    return !findings_->report.silent.empty();
  }

  void read_failures() {
    const std::int64_t count = store_->add(kFailures, 0);
    // One that is not there yet has its number already, and comes soon.
    while (failures_read_ < count && store_->check({failure_key(failures_read_ + 1)})) {
      const std::string line = store_->get_to_str(failure_key(++failures_read_));
      const std::size_t space = line.find(' ');
      int rank = -1;
      std::from_chars(line.data(), line.data() + std::min(space, line.size()), rank);
      if (space == std::string::npos || std::ranges::find(others_, rank) == others_.end()) continue;
      const std::lock_guard lock(findings_->mutex);
      findings_->report.failed.emplace_back(rank, line.substr(space + 1));
      std::ranges::sort(findings_->report.failed);
    }
  }

  // The first of these that have not noticed, by halves: a request where all have, some dozens
  // where many have not.
  void find_silent(std::span<const int> ranks, std::vector<int>& silent) const {
    if (silent.size() >= kMostSilent || ranks.empty()) return;
    std::vector<std::string> keys;
    for (const int rank : ranks) keys.push_back(noticed_key(rank));
    if (store_->check(keys)) return;
    if (ranks.size() == 1) return silent.push_back(ranks.front());
    const std::size_t half = ranks.size() / 2;
    find_silent(ranks.first(half), silent);
    find_silent(ranks.subspan(half), silent);
  }

  c10::intrusive_ptr<c10d::Store> store_;
  std::shared_ptr<Findings> findings_;
  int rank_ = 0;
  std::chrono::milliseconds interval_;
  std::vector<int> others_;
  std::int64_t failures_read_ = 0;
};

}  // namespace

FaultReport exchange_fault_reports(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                   int ranks, const std::string& own_error,
                                   const FaultPatience& patience) {
  const auto findings = std::make_shared<Findings>();
  const auto begin = Clock::now();
  const auto interval = report_interval(ranks);
  std::thread([exchange = Exchange(store, rank, ranks, findings), own_error, patience]() mutable {
    exchange.run(own_error, patience);
  }).detach();
  std::unique_lock lock(findings->mutex);
  const auto done = [&] { return findings->done; };
  const bool over =
      findings->changed.wait_until(lock, begin + patience.without_cause + interval, done);
  // A store that does not answer is not waited for.
  if (!over && findings->report.store_answers) {
    findings->changed.wait_until(lock, begin + patience.with_cause + interval, done);
  }
  return findings->report;
}

}  // namespace stoker::detail
