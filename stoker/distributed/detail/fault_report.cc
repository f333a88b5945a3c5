#include "stoker/distributed/detail/fault_report.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>

#include <fmt/format.h>

namespace stoker::detail {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kReportInterval = std::chrono::milliseconds(50);
constexpr char kLost = 'l', kFailed = 'f';  // how a line begins

std::string key_of(int rank) { return fmt::format("fault/{}", rank); }

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
      : store_(std::move(store)), findings_(std::move(findings)) {
    for (int other = 0; other < ranks; ++other) {
      if (other != rank) waiting_for_.push_back(other);
    }
    rank_ = rank;
  }

  void run(const std::string& own_error, const FaultPatience& patience) {
    const auto begin = Clock::now();
    try {
      store_->set(key_of(rank_), own_error.empty() ? std::string(1, kLost) : kFailed + own_error);
      const auto left = [&] {
        const bool known = !own_error.empty() || has_cause();
        return Clock::now() < begin + (known ? patience.with_cause : patience.without_cause);
      };
      while (look_around() && left()) std::this_thread::sleep_for(kReportInterval);
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

  // True while somebody is missing.
  bool look_around() {
    std::erase_if(waiting_for_, [&](int other) {
      if (!store_->check({key_of(other)})) return false;
      const std::string line = store_->get_to_str(key_of(other));
      const std::lock_guard lock(findings_->mutex);
      if (line.starts_with(kFailed)) findings_->report.failed.emplace_back(other, line.substr(1));
      return true;
    });
    const std::lock_guard lock(findings_->mutex);
    findings_->report.store_answers = true;
    findings_->report.silent = waiting_for_;
    return !waiting_for_.empty();
  }

  c10::intrusive_ptr<c10d::Store> store_;
  std::shared_ptr<Findings> findings_;
  int rank_ = 0;
  std::vector<int> waiting_for_;
};

}  // namespace

FaultReport exchange_fault_reports(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                   int ranks, const std::string& own_error,
                                   const FaultPatience& patience) {
  const auto findings = std::make_shared<Findings>();
  const auto begin = Clock::now();
  std::thread([exchange = Exchange(store, rank, ranks, findings), own_error, patience]() mutable {
    exchange.run(own_error, patience);
  }).detach();
  std::unique_lock lock(findings->mutex);
  const auto done = [&] { return findings->done; };
  const bool over =
      findings->changed.wait_until(lock, begin + patience.without_cause + kReportInterval, done);
  // A store that does not answer is not waited for.
  if (!over && findings->report.store_answers) {
    findings->changed.wait_until(lock, begin + patience.with_cause + kReportInterval, done);
  }
  return findings->report;
}

}  // namespace stoker::detail
