#include "stoker/pipeline/feed.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "stoker/core/cpu_budget.h"

namespace stoker {
namespace {

constexpr int kMaxWorkers = 4096;
constexpr std::uint32_t kMaxRing = 65'536;

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
                    .ranks = options.ranks});
}

SampleError::SampleError(std::string sample_name, Cursor place, const std::string& reason)
    : Error({.what = fmt::format("cannot make sample {} (epoch {}, position {})", sample_name,
                                 place.epoch, place.position),
             .found = reason}),
      sample_name_(std::move(sample_name)),
      place_(place) {}

// What one thread needs to make samples, all of it its own.
class Feed::Worker {
 public:
  Worker(const Feed& feed, WorkerTimes& times)
      : feed_(feed), times_(times), order_(feed.order_.reader()) {}

  void run() {
    Ring& ring = *feed_.ring_;
    std::uint64_t slept_ns = 0;
    auto job = next_job();
    while (job) {
      if (job->place == 0 && !ring.open(job->run, &slept_ns)) return;
      if (slept_ns != 0) times_.add_blocked(std::exchange(slept_ns, 0));
      // Known one sample ahead: its bytes and its place come nearer while this one is made.
      const auto following = next_job();
      if (following) prefetch(*following);
      if (job->run.count > 0) make_or_note_error(*job);
      if (job->place + 1 >= job->run.count) ring.finish(job->run);
      job = following;
    }
  }

 private:
  using Clock = WorkerTimes::Clock;

  // One sample to be made; of an empty run, the duty to finish it.
  struct Job {
    Ring::Run run;
    std::uint32_t place = 0;  // in the run
    std::uint64_t position = 0;
    std::uint64_t index = 0;  // in the source
  };

  std::optional<Job> next_job() {
    if (next_place_ >= run_.count) {
      const auto run = feed_.ring_->reserve();
      if (!run) return std::nullopt;
      run_ = *run;
      next_place_ = 0;
    }
    if (run_.count == 0) return Job{.run = run_};
    const std::uint32_t place = next_place_++;
    const std::uint64_t position =
        run_.first_position + std::uint64_t{place} * feed_.options_.ranks;
    return Job{run_, place, position, order_.sample_at(run_.epoch, position)};
  }

  void prefetch(const Job& job) {
    if (job.run.count == 0) return;
    feed_.source_->prefetch(job.index);
    feed_.ring_->prefetch(job.run, job.place);
  }

  void make_or_note_error(const Job& job) {
    try {
      make(job);
    } catch (const std::exception& error) {
      note_error(job, error.what());
    } catch (...) {
      note_error(job, "an unknown exception");
    }
  }

  // Naming the sample may fail too, for want of memory or because the source cannot tell.
  void note_error(const Job& job, const char* reason) {
    std::exception_ptr named;
    try {
      named = std::make_exception_ptr(SampleError(feed_.source_->sample_name(job.index),
                                                  {job.run.epoch, job.position}, reason));
    } catch (...) {
      named = std::current_exception();
    }
    feed_.ring_->fail(job.run, job.place, std::move(named));
  }

  void make(const Job& job) {
    const bool timed = times_.time_next();
    const auto now = [timed] { return timed ? Clock::now() : Clock::time_point{}; };
    const Ring::Place place = feed_.ring_->place(job.run, job.place);
    const auto start = now();
    const Sample sample = feed_.source_->read(job.index, buffer_).value();
    const auto was_read = now();
    const SampleKey key{.seed = feed_.options_.seed, .epoch = job.run.epoch, .sample = job.index};
    const ImageView image = augment(place.pixels, sample.image, key);
    const auto was_augmented = now();
    if (feed_.options_.pixel_type == PixelType::kF32) {
      normalise(reinterpret_cast<float*>(place.pixels.data()), image, feed_.options_.normalisation);
    }
    *place.label = sample.label;
    *place.index = job.index;
    if (timed) times_.add_stages(was_read - start, was_augmented - was_read, now() - was_augmented);
    times_.count_sample();
  }

  // Bytes go straight into the batch; floats are made from bytes that lie in the scratch image.
  ImageView augment(std::span<std::byte> pixels, const ImageView& image, const SampleKey& key) {
    STOKER_INVARIANT(image.shape == feed_.source_->shape(), "a sample of another shape");
    if (feed_.options_.pixel_type == PixelType::kU8) {
      const MutableImageView out{reinterpret_cast<std::uint8_t*>(pixels.data()), image.shape,
                                 image.shape.bytes_per_row()};
      feed_.policy_.apply(out, image, key, scratch_);
      return out;
    }
    if (feed_.policy_.empty()) return image;
    augmented_.reshape(image.shape);
    feed_.policy_.apply(augmented_.view(), image, key, scratch_);
    return std::as_const(augmented_).view();
  }

  const Feed& feed_;
  WorkerTimes& times_;
  EpochOrder::Reader order_;
  Ring::Run run_;  // where next_job() is
  std::uint32_t next_place_ = 0;
  SampleBuffer buffer_;
  AugmentScratch scratch_;
  Image augmented_;
};

Feed::Feed(std::shared_ptr<const Source> source, Policy policy, const FeedOptions& options)
    : source_(std::move(source)),
      policy_(std::move(policy)),
      options_(options),
      order_(source_->size(), options.seed, options.shuffle),
      times_(static_cast<std::size_t>(resolve_workers(options.workers))) {
  ring_ = std::make_shared<Ring>(
      plan_of(options, source_->size()),
      BatchLayout{.shape = source_->shape(), .pixel_type = options.pixel_type, .capacity = 0},
      resolve_ring(options.ring_batches, workers()), workers(), options.make_memory);
  threads_.reserve(times_.size());
  try {
    for (std::size_t i = 0; i < times_.size(); ++i) {
      threads_.emplace_back([this, i] {
        pthread_setname_np(pthread_self(), fmt::format("feed-{}", i).c_str());
        stand_back(options_.niceness);
        Worker(*this, times_[i]).run();
      });
    }
  } catch (...) {
    stop();  // threads that did start must not outlive the object that never came to be
    throw;
  }
}

Feed::~Feed() { stop(); }

void Feed::stop() noexcept {
  ring_->stop();
  threads_.clear();  // joins
}

std::optional<Batch> Feed::next() {
  if (error_ != nullptr) std::rethrow_exception(error_);
  if (!first_next_) first_next_ = WorkerTimes::Clock::now();
  ring_fill_.add(ring_->ready());
  try {
    return ring_->take(&waited_ns_);
  } catch (const SampleError&) {
    error_ = std::current_exception();
    stop();
    throw;
  }
}

FeedStats Feed::stats() const {
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

}  // namespace stoker
