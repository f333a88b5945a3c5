#include "stoker/pipeline/feed.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "stoker/core/cpu_budget.h"
#include "stoker/core/float_mode.h"
#include "stoker/core/gate.h"
#include "stoker/data/order/sampler.h"
#include "stoker/pipeline/detail/isolated_workers.h"
#include "stoker/pipeline/detail/jobs.h"
#include "stoker/pipeline/detail/sample_maker.h"
#include "stoker/pipeline/fault_list.h"
#include "stoker/pipeline/ring.h"
#include "stoker/pipeline/telemetry.h"
#include "stoker/pipeline/watchdog.h"

namespace stoker {
namespace {

constexpr int kMaxWorkers = 4096;
constexpr std::uint32_t kMaxRing = 65'536;
// How long a worker that is needed may take before the reader asks whether to give up.
constexpr std::chrono::milliseconds kPatience{1000};

int resolve_workers(int asked) {
  const int workers = asked == 0 ? default_workers(cpu_budget()) : asked;
  if (workers < 1 || workers > kMaxWorkers) {
    throw Error(
        {.what = "cannot start that many workers",
         .expected = fmt::format("1 to {}, or 0 for as many as the job may use", kMaxWorkers),
         .found = fmt::format("{}", workers)});
  }
  return workers;
}

std::uint32_t resolve_ring(std::uint32_t asked, int workers) {
  if (asked > kMaxRing) {
    throw Error({.what = "cannot keep that many batches in flight",
                 .expected = fmt::format("1 to {}, or 0 for two a worker", kMaxRing),
                 .found = fmt::format("{}", asked)});
  }
  return asked != 0 ? asked : std::max(4U, 2U * static_cast<std::uint32_t>(workers));
}

// Of this thread alone, which is what Linux makes of it. A wish: refused, it changes only speed.
void stand_back(int niceness) noexcept {
  if (niceness > 0) setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), niceness);
}

}  // namespace

BatchPlan plan_of(const FeedOptions& options, std::uint64_t samples) {
  return BatchPlan({.samples = samples,
                    .batch_size = options.batch_size,
                    .batches_per_epoch = options.batches_per_epoch,
                    .drop_last = options.drop_last,
                    .begin = options.begin,
                    .end_epoch = options.epochs,
                    .rank = options.rank,
                    .ranks = options.ranks,
                    .whole_batches = options.whole_batches});
}

SampleError::SampleError(std::string sample_name, Cursor place, const std::string& reason)
    : Error({.what = fmt::format("cannot read sample {} (epoch {}, position {}): {}", sample_name,
                                 place.epoch, place.position, reason),
             .hint = "In a folder or table, `stoker doctor` lists all such files; `on_error` skip "
                     "trains without them"}),
      sample_name_(std::move(sample_name)),
      place_(place) {}

class Feed::Impl {
 public:
  Impl(std::shared_ptr<const Source> source, Policy policy, const FeedOptions& options);
  // Waits for all workers. See stop() for a way that does not.
  ~Impl() {
    request_stop();
    join();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  [[nodiscard]] std::optional<Batch> next();
  [[nodiscard]] bool wait_for(std::chrono::milliseconds limit);
  [[nodiscard]] FeedStats stats() const;
  [[nodiscard]] const std::vector<SampleFault>& faults() const noexcept { return faults_.list(); }
  [[nodiscard]] int workers() const noexcept { return static_cast<int>(times_.size()); }
  [[nodiscard]] const BatchPlan& plan() const noexcept { return ring_->plan(); }
  [[nodiscard]] const ImageShape& image_shape() const noexcept { return shape_; }
  [[nodiscard]] PixelType pixel_type() const noexcept { return options_.pixel_type; }
  // False where it was given up: workers still use this object, and its destructor waits for them.
  [[nodiscard]] bool stop() noexcept;

 private:
  class Worker;
  [[nodiscard]] detail::Work work();
  [[nodiscard]] detail::SampleRecipe recipe() const;
  void start_threads();
  void request_stop() noexcept;
  void join() noexcept;
  [[nodiscard]] bool wait_until_ended(Gate::Clock::time_point deadline) noexcept;
  void note_question();
  // Returns when the next batch is there; throws FeedGivenUp.
  void wait_for_next();
  [[nodiscard]] FeedGivenUp given_up() const;
  void end_with(std::exception_ptr error);

  std::shared_ptr<const Source> source_;
  Policy policy_;
  FeedOptions options_;
  ImageShape shape_;  // of every sample
  EpochOrder order_;
  std::shared_ptr<Ring> ring_;  // shared with the batches that the reader still holds
  std::vector<WorkerTimes> times_;
  std::vector<WorkerActivity> activities_;
  Faults faults_;
  std::atomic<int> running_{0};  // threads
  Gate ended_;
  std::vector<std::jthread> threads_;
  std::unique_ptr<detail::IsolatedWorkers> processes_;
  std::unique_ptr<Watchdog> watchdog_;

  // The reader's.
  std::exception_ptr error_;
  std::uint64_t waited_ns_ = 0;
  bool asked_ = false;  // for the next batch: wait_for() may come before next()
  std::optional<WorkerTimes::Clock::time_point> first_next_;
  BoundedSeries ring_fill_;
};

// What one thread needs to make samples, all of it its own.
class Feed::Impl::Worker {
 public:
  Worker(Impl& feed, std::size_t number)
      : feed_(feed),
        times_(feed.times_[number]),
        activity_(feed.activities_[number]),
        jobs_(feed.work()),
        maker_(feed.recipe()),
        numbers_(number_count(feed.source_->fields())) {}

  void run() {
    Ring& ring = *feed_.ring_;
    std::uint64_t slept_ns = 0;
    auto job = jobs_.next();
    while (job) {
      if (job->place == 0 && !ring.open(job->run, &slept_ns)) return;
      if (slept_ns != 0) times_.add_blocked(std::exchange(slept_ns, 0));
      // Known one sample ahead: its bytes and its place come nearer while this one is made.
      const auto following = jobs_.next();
      if (following) prefetch(*following);
      if (job->run.count > 0) fill(*job);
      activity_.sample.store(WorkerActivity::kNone, std::memory_order_release);
      if (job->place + 1 >= job->run.count) ring.finish(job->run);
      job = following;
    }
  }

 private:
  void prefetch(const detail::Job& job) {
    if (job.run.count == 0) return;
    feed_.source_->prefetch(job.index);
    feed_.ring_->prefetch(job.run, job.place);
  }

  // With its sample, or where that cannot be made, with what the user wants then.
  void fill(detail::Job& job) {
    std::string reason;
    do {
      reason = try_to_make(job);
    } while (!reason.empty() && jobs_.try_another(job, std::move(reason)));
  }

  // Why it could not be made; empty where it was.
  std::string try_to_make(const detail::Job& job) {
    try {
      make(job);
      return {};
    } catch (const std::exception& error) {
      return error.what();
    } catch (...) {
      return "an unknown exception";
    }
  }

  void make(const detail::Job& job) {
    activity_.begun.store(++begun_, std::memory_order_relaxed);
    activity_.sample.store(job.index, std::memory_order_release);
    const bool timed = times_.time_next();
    const Ring::Place place = feed_.ring_->place(job.run, job.place);
    detail::StageTimes stages;
    *place.label = maker_.make({.index = job.index, .epoch = job.run.epoch, .pixels = place.pixels},
                               timed ? &stages : nullptr);
    *place.index = job.index;
    put_fields(job);
    if (timed) times_.add_stages(stages.read, stages.augment, stages.write);
    if (const auto waited = maker_.take_store_wait(); waited.count() > 0) {
      times_.add_store(static_cast<std::uint64_t>(waited.count()));
    }
    times_.count_sample();
  }

  void put_fields(const detail::Job& job) {
    if (numbers_.empty()) return;
    static_cast<void>(feed_.source_->read_fields(job.index, numbers_).value());
    feed_.ring_->put_numbers(job.run, job.place, numbers_);
  }

  Impl& feed_;
  WorkerTimes& times_;
  WorkerActivity& activity_;
  std::uint64_t begun_ = 0;
  detail::JobList jobs_;
  detail::SampleMaker maker_;
  std::vector<float> numbers_;  // of the source's fields, one sample's
};

detail::Work Feed::Impl::work() {
  return {.source = *source_,
          .order = order_,
          .ring = *ring_,
          .faults = faults_,
          .on_error = options_.on_error};
}

detail::SampleRecipe Feed::Impl::recipe() const {
  return {.source = *source_,
          .policy = policy_,
          .shape = shape_,
          .pixel_type = options_.pixel_type,
          .normalisation = options_.normalisation,
          .channels_last = options_.channels_last,
          .framing = options_.framing,
          .seed = options_.seed,
          .views = options_.views};
}

namespace {

// Of samples in batches of this type.
ImageShape batch_shape(const Source& source, const Policy& policy, PixelType type) {
  const ImageShape shape = sample_shape(source, policy);
  if (type == PixelType::kF32 || shape.depth == 8) return shape;
  throw OptionError({.what = "cannot give batches of bytes",
                     .expected = "images of 8 bits",
                     .found = fmt::format("images of {} bits", shape.depth),
                     .hint = "Take batches of floats (`dtype` float32), or use `depth` 8"});
}

}  // namespace

Feed::Impl::Impl(std::shared_ptr<const Source> source, Policy policy, const FeedOptions& options)
    : source_(std::move(source)),
      policy_(std::move(policy)),
      options_(options),
      shape_(batch_shape(*source_, policy_, options.pixel_type)),
      order_(*source_, options.seed, options.shuffle),
      times_(static_cast<std::size_t>(resolve_workers(options.workers))),
      activities_(times_.size()),
      faults_(options.max_errors) {
  ring_ = std::make_shared<Ring>(
      plan_of(options, source_->size()),
      BatchContents{.image = shape_,
                    .pixel_type = options.pixel_type,
                    .channels_last = options.channels_last,
                    .views = options.views,
                    .numbers = {source_->fields().begin(), source_->fields().end()}},
      Ring::Options{
          .batches = resolve_ring(options.ring_batches, workers()),
          .workers = workers(),
          .make_memory = options.isolate ? shared_batch_memory : options.make_memory,
          .name_of = [source = source_](std::uint64_t index) { return source->sample_name(index); },
          .held_bytes = options.held_bytes,
          .reserve_held = options.isolate});
  threads_.reserve(times_.size());
  try {
    if (options.isolate) {
      processes_ = std::make_unique<detail::IsolatedWorkers>(work(), recipe(), options_, times_,
                                                             activities_);
    } else {
      start_threads();
    }
    if (options.stall_limit.count() > 0 && options.on_stall) {
      watchdog_ =
          std::make_unique<Watchdog>(activities_, options.stall_limit, [this](const Stall& stall) {
            options_.on_stall(source_->sample_name(stall.sample), stall.seconds);
          });
    }
  } catch (...) {
    request_stop();  // threads that did start must not outlive the object that never came to be
    join();
    throw;
  }
}

void Feed::Impl::start_threads() {
  detail::announce_first(work());
  for (std::size_t i = 0; i < times_.size(); ++i) {
    threads_.emplace_back([this, i] {
      pthread_setname_np(pthread_self(), fmt::format("feed-{}", i).c_str());
      stand_back(options_.niceness);
      set_float_mode(FloatMode::kExact);  // whatever the program around has
      Worker(*this, i).run();
      running_.fetch_sub(1);
      ended_.notify_all();
    });
    running_.fetch_add(1);
  }
}

void Feed::Impl::request_stop() noexcept {
  ring_->stop();
  if (processes_) processes_->request_stop();
}

void Feed::Impl::join() noexcept {
  threads_.clear();
  processes_.reset();
  watchdog_.reset();
}

bool Feed::Impl::wait_until_ended(Gate::Clock::time_point deadline) noexcept {
  if (processes_) return processes_->wait_until_ended(deadline);
  return ended_.wait_until([this] { return running_.load() == 0; }, deadline);
}

bool Feed::Impl::stop() noexcept {
  request_stop();
  if (options_.give_up) {
    // Most workers end with the sample that they are at.
    const auto patient_until = Gate::Clock::now() + kPatience;
    while (!wait_until_ended(Gate::Clock::now() + kPatience / 4)) {
      if (Gate::Clock::now() < patient_until || !options_.give_up()) continue;
      watchdog_.reset();
      if (processes_) processes_->end_processes();
      return false;
    }
  }
  join();
  return true;
}

FeedGivenUp Feed::Impl::given_up() const {
  std::string name;
  for (const WorkerActivity& activity : activities_) {
    const std::uint64_t sample = activity.sample.load(std::memory_order_acquire);
    if (sample != WorkerActivity::kNone && name.empty()) name = source_->sample_name(sample);
  }
  return FeedGivenUp({.what = "gave up waiting for samples that are being read", .path = name});
}

// What next() throws from now on.
void Feed::Impl::end_with(std::exception_ptr error) {
  error_ = std::move(error);
  static_cast<void>(stop());  // workers that still read are the destructor's to leave behind
}

void Feed::Impl::wait_for_next() {
  if (!options_.give_up) return;
  while (!ring_->wait_until(Gate::Clock::now() + kPatience, &waited_ns_)) {
    if (options_.give_up()) throw given_up();
  }
}

void Feed::Impl::note_question() {
  if (!first_next_) first_next_ = WorkerTimes::Clock::now();
  if (!asked_) ring_fill_.add(ring_->ready());
  asked_ = true;
}

bool Feed::Impl::wait_for(std::chrono::milliseconds limit) {
  if (error_ != nullptr) return true;
  note_question();
  return ring_->wait_until(Gate::Clock::now() + limit, &waited_ns_);
}

std::optional<Batch> Feed::Impl::next() {
  if (error_ != nullptr) std::rethrow_exception(error_);
  note_question();
  asked_ = false;
  try {
    wait_for_next();
    auto batch = ring_->take(&waited_ns_);
    if (batch) faults_.collect(batch->number());
    return batch;
  } catch (const TooManyFaults&) {
    end_with(std::current_exception());
    throw;
  } catch (const SampleError&) {
    end_with(std::current_exception());
    throw;
  }
}

FeedStats Feed::Impl::stats() const {
  FeedStats stats;
  std::vector<WorkerTimes::Sums> sums;
  for (const WorkerTimes& times : times_) {
    sums.push_back(times.sums());
    stats.samples += sums.back().samples;
  }
  stats.stages = stage_shares(sums);
  if (first_next_) {
    stats.seconds = std::chrono::duration<double>(WorkerTimes::Clock::now() - *first_next_).count();
    stats.wait_share = std::min(1.0, static_cast<double>(waited_ns_) * 1e-9 / stats.seconds);
  }
  stats.ring_fill = ring_fill_.points();
  stats.ring_batches = ring_->batches();
  return stats;
}

Feed::Feed(std::shared_ptr<const Source> source, Policy policy, const FeedOptions& options)
    : impl_(std::make_unique<Impl>(std::move(source), std::move(policy), options)) {}
Feed::~Feed() {
  if (impl_->stop()) return;
  // Its workers still read: another thread waits for them. If the system has none left, the memory
  // is never freed, because they may still use it.
  Impl* left = impl_.release();
  try {
    std::thread([left] { delete left; }).detach();
  } catch (const std::system_error&) {
  }
}

std::optional<Batch> Feed::next() { return impl_->next(); }
bool Feed::wait_for(std::chrono::milliseconds limit) { return impl_->wait_for(limit); }
FeedStats Feed::stats() const { return impl_->stats(); }
const std::vector<SampleFault>& Feed::faults() const noexcept { return impl_->faults(); }
int Feed::workers() const noexcept { return impl_->workers(); }
const BatchPlan& Feed::plan() const noexcept { return impl_->plan(); }
const ImageShape& Feed::image_shape() const noexcept { return impl_->image_shape(); }
PixelType Feed::pixel_type() const noexcept { return impl_->pixel_type(); }

}  // namespace stoker
