#include "stoker/pipeline/detail/isolated_workers.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stoker/core/error.h"
#include "stoker/core/pipe_queue.h"
#include "stoker/core/plain_text.h"
#include "stoker/pipeline/detail/jobs.h"
#include "stoker/pipeline/detail/lane.h"
#include "stoker/pipeline/detail/sample_maker.h"
#include "stoker/pipeline/detail/sandbox.h"
#include "stoker/pipeline/detail/zygote.h"

namespace stoker::detail {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

// A process that dies so often without having been given anything will not live.
constexpr int kMostIdleDeaths = 5;

// How long reports may lie in the pipe while all processes have enough to do. Waking up for each
// report would take a CPU from the processes twice for each sample.
class ReportPause {
 public:
  explicit ReportPause(std::size_t workers)
      : many_(std::min<std::size_t>(workers * kSlots / 3, 100)) {}
  [[nodiscard]] nanoseconds length() const { return length_; }
  void adapt(std::size_t reports) {  // that came after the last one
    if (reports > many_) length_ /= 2;
    if (reports < many_) length_ = std::min(length_ * 9 / 8 + kShortest, kLongest);
  }

 private:
  static constexpr nanoseconds kShortest = std::chrono::microseconds(20);
  static constexpr nanoseconds kLongest = std::chrono::milliseconds(4);
  std::size_t many_;
  nanoseconds length_{0};
};

// Ends the collector's poll().
class WakeUp {
 public:
  WakeUp() : descriptor_(eventfd(0, EFD_CLOEXEC)) {
    if (descriptor_ < 0) {
      throw Error({.what = "cannot start worker processes", .found = std::strerror(errno)});
    }
  }
  ~WakeUp() { close(descriptor_); }
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;
  void signal() noexcept { eventfd_write(descriptor_, 1); }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

// The text comes from a process that is not trusted.
std::string reason_of(const Report& report) {
  const char* end = std::find(std::begin(report.reason), std::end(report.reason), '\0');
  const std::string text = plain_text({report.reason, end}, sizeof(report.reason));
  return text.empty() ? "no reason given" : text;
}

// One place of a run as a run of its own: places of a run may be finished in any order.
Job single_place(Job job) {
  job.run.first_slot += job.place;
  job.run.first_position = job.position;
  job.run.count = 1;
  job.place = 0;
  return job;
}

}  // namespace

class IsolatedWorkers::Impl {
 public:
  Impl(const Work& work, const SampleRecipe& recipe, const FeedOptions& options,
       std::vector<WorkerTimes>& times, std::vector<WorkerActivity>& activities)
      : work_(work),
        recipe_(recipe),
        limits_(options.isolation),
        niceness_(options.niceness),
        times_(times),
        queue_(kSlots * times.size()),
        watched_(times.size()),
        replacements_(work) {
    for (WorkerActivity& activity : activities) lanes_.emplace_back(activity);
    zygote_.emplace(static_cast<int>(lanes_.size()), std::vector<int>{queue_.writing_end()},
                    [this](int worker) { run_child(worker); });
    queue_.close_writing_end();
    for (int i = 0; i < static_cast<int>(lanes_.size()); ++i) zygote_->spawn(i);
    start_threads();
  }

  ~Impl() { stop(); }

  void request_stop() noexcept {
    stopping_.store(true);
    for (Lane& lane : lanes_) lane.stop();
    wake_up_.signal();
  }

  [[nodiscard]] bool wait_until_ended(Gate::Clock::time_point deadline) noexcept {
    return ended_gate_.wait_until([this] { return running_.load() == 0; }, deadline);
  }

  void end_processes() noexcept {
    for (std::size_t i = 0; i < lanes_.size(); ++i) zygote_->kill(static_cast<int>(i));
  }

 private:
  // What the collector knows about a process.
  struct Watched {
    std::uint64_t condemned = 0;  // serial of the sample for which it is being killed
    int idle_deaths = 0;          // in a row
  };

  [[noreturn]] void run_child(int worker) {
    const auto number = static_cast<std::size_t>(worker);
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (i != number) lanes_[i].unmap();
    }
    run_isolated_child({.worker = static_cast<std::uint32_t>(worker),
                        .board = &lanes_[number].board(),
                        .queue = &queue_,
                        .memory_limit = limits_.memory_bytes,
                        .niceness = niceness_},
                       recipe_);
  }

  void start_threads() {
    announce_first(work_);  // after the fork: the source may start threads
    try {
      threads_.reserve(lanes_.size() + 1);
      for (std::size_t i = 0; i < lanes_.size(); ++i) {
        start_thread(fmt::format("dispatch-{}", i), [this, i] { dispatch(i); });
      }
      start_thread("collect", [this] { collect(); });
    } catch (...) {
      work_.ring.stop();
      stop();
      throw;
    }
  }

  template <class Body>
  void start_thread(const std::string& name, Body body) {
    running_.fetch_add(1);
    try {
      threads_.emplace_back([this, name, body] {
        pthread_setname_np(pthread_self(), name.c_str());
        body();
        running_.fetch_sub(1);
        ended_gate_.notify_all();
      });
    } catch (...) {
      running_.fetch_sub(1);
      throw;
    }
  }

  void stop() noexcept {
    request_stop();
    threads_.clear();  // joins
    zygote_.reset();
  }

  // ---- Dispatchers ----

  void dispatch(std::size_t number) {
    Lane& lane = lanes_[number];
    JobList jobs(work_);
    std::uint64_t slept_ns = 0;
    while (const auto job = jobs.next()) {
      if (job->place == 0 && !work_.ring.open(job->run, &slept_ns)) return;
      if (slept_ns != 0) times_[number].add_blocked(std::exchange(slept_ns, 0));
      if (job->run.count == 0) {
        work_.ring.finish(job->run);
        continue;
      }
      const auto slot = lane.claim_slot();
      if (!slot) return;
      send(number, {.job = single_place(*job), .slot = *slot}, jobs);
    }
  }

  // The sample's file into the slot, and the job to the process. Where the file cannot be read,
  // the same happens as with one that cannot be decoded.
  void send(std::size_t number, Flight flight, JobList& jobs) {
    while (!broken_.load()) {
      std::string reason = load(number, flight);
      if (reason.empty()) {
        const Ring::Place place = work_.ring.place(flight.job.run, 0);
        lanes_[number].post(flight, place.pixels);
        // Whoever broke everything looked for flights before this one was there, or sees it.
        if (broken_.load()) fail_all(number);
        return;
      }
      if (!jobs.try_another(flight.job, std::move(reason))) {
        finish(number, flight);
        return;
      }
    }
    fail(number, flight);
  }

  // Why the sample's bytes cannot be read; empty where they lie in the slot.
  std::string load(std::size_t number, Flight& flight) {
    flight.timed = times_[number].time_next();
    const auto start = flight.timed ? Clock::now() : Clock::time_point{};
    try {
      std::span<std::byte> input;
      const auto room = [&](std::size_t size) {
        return input = lanes_[number].input(flight.slot, size);
      };
      auto bytes = work_.source.read_bytes(flight.job.index, room);
      if (!bytes) return to_string(bytes.error());
      flight.bytes = bytes->size();
      // A source may give memory of its own, which the process cannot see.
      if (bytes->data() != input.data() && !bytes->empty()) {
        std::memcpy(room(bytes->size()).data(), bytes->data(), bytes->size());
      }
      put_fields(flight.job);
    } catch (const std::exception& error) {
      return error.what();
    }
    if (flight.timed) flight.read_time = Clock::now() - start;
    return {};
  }

  // Here and not in a process: what a hostile file may change are pixels and the label alone.
  void put_fields(const Job& job) {
    const std::size_t count = number_count(work_.source.fields());
    if (count == 0) return;
    std::vector<float> numbers(count);
    static_cast<void>(work_.source.read_fields(job.index, numbers).value());
    work_.ring.put_numbers(job.run, 0, numbers);
  }

  void finish(std::size_t number, const Flight& flight) {
    work_.ring.finish(flight.job.run);
    lanes_[number].release_slot(flight.slot);
  }

  // ---- The collector ----

  void collect() {
    // Often enough to be in time, seldom enough to cost nothing.
    const auto tick = std::clamp<std::chrono::milliseconds>(
        limits_.sample_time / 8, std::chrono::milliseconds(1), std::chrono::milliseconds(100));
    auto last_look = Clock::now();
    ReportPause pause(lanes_.size());
    while (!stopping_.load()) {
      const bool all_busy = std::ranges::all_of(lanes_, &Lane::has_more_to_do);
      wait_for_news(all_busy ? pause.length() : nanoseconds(0), tick);
      // Deaths first, reports after them: what a process reported before it died is in the pipe by
      // now, and must not be taken for what it died of.
      std::vector<Zygote::Death> deaths;
      while (const auto death = zygote_->next_death()) deaths.push_back(*death);
      std::size_t reports = 0;
      for (; const auto report = queue_.try_get(); ++reports) handle(*report);
      pause.adapt(reports);
      for (const Zygote::Death& death : deaths) handle(death);
      if (zygote_->gone()) break_all("the process that starts workers is gone");
      if (broken_.load()) return;
      const auto now = Clock::now();
      if (now - last_look < tick) continue;
      // Time in which the whole program was stopped (Ctrl-Z) counts as one tick.
      end_overdue(std::min<Clock::duration>(now - last_look, 2 * tick));
      last_look = now;
    }
  }

  // Of reports only after the pause.
  void wait_for_news(nanoseconds pause, std::chrono::milliseconds tick) {
    pollfd waiting[3] = {{.fd = zygote_->descriptor(), .events = POLLIN, .revents = 0},
                         {.fd = wake_up_.descriptor(), .events = POLLIN, .revents = 0},
                         {.fd = queue_.reading_end(), .events = POLLIN, .revents = 0}};
    const timespec limit{.tv_sec = 0, .tv_nsec = pause.count()};
    if (pause.count() == 0 || ppoll(waiting, 2, &limit, nullptr) == 0) {
      poll(waiting, 3, static_cast<int>(tick.count()));
    }
  }

  void end_overdue(Clock::duration elapsed) {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      const auto serial = lanes_[i].overdue(elapsed, limits_.sample_time);
      if (!serial) continue;
      watched_[i].condemned = *serial;
      zygote_->kill(static_cast<int>(i));
    }
  }

  void handle(const Report& report) {
    if (report.outcome == Report::Outcome::kCannotStart) {
      break_all(reason_of(report));
      return;
    }
    const std::size_t number = report.worker;
    if (number >= lanes_.size()) return;
    const auto flight = lanes_[number].take(report.serial);
    if (!flight) return;
    watched_[number].idle_deaths = 0;
    if (report.outcome != Report::Outcome::kMade) {
      try_another(number, *flight, reason_of(report));
    } else if (!is_label(report.label)) {
      try_another(number, *flight, fmt::format("its label {} does not exist", report.label));
    } else {
      complete(number, *flight, report);
    }
  }

  [[nodiscard]] bool is_label(std::int64_t label) const {
    const auto classes = static_cast<std::int64_t>(work_.source.class_names().size());
    return label >= -1 && (classes == 0 || label < classes);
  }

  void complete(std::size_t number, const Flight& flight, const Report& report) {
    const Ring::Place place = work_.ring.place(flight.job.run, 0);
    *place.label = report.label;
    *place.index = flight.job.index;
    WorkerTimes& times = times_[number];
    if (flight.timed) {
      times.add_stages(flight.read_time + nanoseconds(report.read_ns),
                       nanoseconds(report.augment_ns), nanoseconds(report.write_ns));
    }
    times.count_sample();
    finish(number, flight);
  }

  void try_another(std::size_t number, Flight flight, std::string reason) {
    if (replacements_.try_another(flight.job, std::move(reason))) {
      flight.was_killed = false;
      send(number, flight, replacements_);
    } else {
      finish(number, flight);
    }
  }

  void handle(const Zygote::Death& death) {
    if (broken_.load()) return;
    const auto number = static_cast<std::size_t>(death.worker);
    if (death.status == Zygote::kNotStarted) {
      break_all("a worker process cannot be started");
      return;
    }
    const std::uint64_t condemned = std::exchange(watched_[number].condemned, 0);
    const std::vector<Flight> flights = lanes_[number].take_all();
    if (flights.empty() && ++watched_[number].idle_deaths > kMostIdleDeaths) {
      break_all(fmt::format("worker processes do not live: {}", describe_end(death.status)));
      return;
    }
    zygote_->spawn(death.worker);
    for (Flight flight : flights) {
      const bool was_at_it = flight.serial == flights.front().serial;
      if (was_at_it && is_guilty(flight, death.status, condemned)) {
        try_another(number, flight, reason_of_death(death.status, condemned));
      } else {
        flight.was_killed = flight.was_killed || (was_at_it && is_kill(death.status));
        // Read anew: the process could have written over it.
        send(number, flight, replacements_);
      }
    }
  }

  static bool is_kill(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL; }

  // Not a sample that was begun after another took too long, and not one behind which the process
  // ended in good order. A kill that is not ours came from outside, most often for want of memory
  // on the machine: it says something of the sample only when it comes again.
  static bool is_guilty(const Flight& flight, int status, std::uint64_t condemned) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == kRetired) return false;
    if (condemned == 0 && is_kill(status) && !flight.was_killed) return false;
    return condemned == 0 || condemned == flight.serial;
  }

  [[nodiscard]] std::string reason_of_death(int status, std::uint64_t condemned) const {
    if (condemned == 0) return describe_end(status);
    return fmt::format("took longer than {:g} s",
                       std::chrono::duration<double>(limits_.sample_time).count());
  }

  // ---- Nothing works any more ----

  // From now on every place carries this error.
  void break_all(const std::string& reason) {
    {
      const std::lock_guard lock(broken_mutex_);
      if (broken_reason_.empty()) broken_reason_ = reason;
    }
    broken_.store(true);
    for (std::size_t i = 0; i < lanes_.size(); ++i) fail_all(i);
  }

  void fail_all(std::size_t number) {
    for (const Flight& flight : lanes_[number].take_all()) fail(number, flight);
  }

  void fail(std::size_t number, const Flight& flight) {
    {
      const std::lock_guard lock(broken_mutex_);
      work_.ring.fail(flight.job.run, 0,
                      std::make_exception_ptr(Error(
                          {.what = "worker processes cannot go on", .found = broken_reason_})));
    }
    finish(number, flight);
  }

  Work work_;
  SampleRecipe recipe_;
  IsolationLimits limits_;
  int niceness_;
  std::vector<WorkerTimes>& times_;
  std::deque<Lane> lanes_;  // not moved: they hold locks
  PipeQueue<Report> queue_;
  std::optional<Zygote> zygote_;
  WakeUp wake_up_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> broken_{false};
  std::mutex broken_mutex_;
  std::string broken_reason_;
  // The collector's.
  std::vector<Watched> watched_;
  JobList replacements_;  // only for try_another()

  std::atomic<int> running_{0};
  Gate ended_gate_;
  std::vector<std::jthread> threads_;
};

IsolatedWorkers::IsolatedWorkers(const Work& work, const SampleRecipe& recipe,
                                 const FeedOptions& options, std::vector<WorkerTimes>& times,
                                 std::vector<WorkerActivity>& activities)
    : impl_(std::make_unique<Impl>(work, recipe, options, times, activities)) {}

IsolatedWorkers::~IsolatedWorkers() = default;
void IsolatedWorkers::request_stop() noexcept { impl_->request_stop(); }
bool IsolatedWorkers::wait_until_ended(Gate::Clock::time_point deadline) noexcept {
  return impl_->wait_until_ended(deadline);
}
void IsolatedWorkers::end_processes() noexcept { impl_->end_processes(); }

}  // namespace stoker::detail
