/// \file
/// Feed: parallel workers that read, augment and write samples ahead of the reader, in batches
/// whose content and order do not depend on how many workers there are.
///
///     Feed feed(source, Policy::parse("mnist"), {.batch_size = 64, .epochs = 15});
///     while (auto batch = feed.next()) train_on(*batch);
///
/// The workers start with the object and are gone when it is, whatever way it ends: at the last
/// batch, early, or by an exception (but see FeedOptions::give_up). A batch may outlive the feed.
/// next() belongs to one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/augment/policy.h"
#include "stoker/core/error.h"
#include "stoker/data/sources/source.h"
#include "stoker/export.h"
#include "stoker/kernels/normalise/normalise.h"
#include "stoker/pipeline/batch.h"
#include "stoker/pipeline/batch_memory.h"
#include "stoker/pipeline/faults.h"
#include "stoker/pipeline/feed_stats.h"
#include "stoker/pipeline/plan.h"

namespace stoker {

/// What one worker process may use.
struct IsolationLimits {
  /// On top of what the program has mapped when the feed starts. Enough for the largest image
  /// that the codecs accept.
  std::size_t memory_bytes = std::size_t{4} << 30;
  std::chrono::milliseconds sample_time{10'000};
};

/// What a feed gives and how it works. The number of workers never changes the batches.
struct FeedOptions {
  int workers = 0;                      ///< 0: what the job may use (cpu_budget.h), at least two
  std::uint32_t batch_size = 64;        ///< over all ranks
  std::uint32_t views = 1;              ///< of each sample, each augmented by itself (view_key)
  std::uint32_t epochs = 1;             ///< the feed ends before epoch `epochs`, counted from 0
  Cursor begin = {};                    ///< where to start
  std::uint64_t batches_per_epoch = 0;  ///< 0: all
  bool shuffle = true;
  bool drop_last = false;
  std::uint64_t seed = 0;
  std::uint32_t rank = 0, ranks = 1;
  bool whole_batches = false;  ///< plan.h
  PixelType pixel_type = PixelType::kF32;
  Normalisation normalisation = {};  ///< for kF32
  bool channels_last = false;        ///< for kF32: sample, row, column, channel, as kU8 has it
  FramingOptions framing = {};       ///< where the policy begins with one
  std::uint32_t ring_batches = 0;    ///< batches in flight; 0: two a worker, at least four
  /// Memory beyond the ring's, for a reader that holds many batches. A batch that is still held
  /// when half of the ring has been given after it keeps its memory, and the ring gets another
  /// block: taken when it is first needed, and again when that batch is dropped. With `isolate`
  /// only addresses are reserved at the start, since processes see no memory that comes later;
  /// pages that were used stay until the end. 0: next() throws instead.
  std::size_t held_bytes = 0;
  /// How far the workers stand back behind other threads: 0 (not at all) to 19, as nice(1) has it.
  /// For a reader that computes on the same CPUs.
  int niceness = 0;
  MakeBatchMemory make_memory = host_batch_memory;
  /// Samples are made by locked-down processes instead of threads, for files that are not trusted;
  /// see isolated_workers.h. The batches lie in shared memory then, whatever make_memory says.
  bool isolate = false;
  IsolationLimits isolation = {};
  OnError on_error = OnError::kStop;
  std::uint64_t max_errors =
      100;  ///< unless kStop: more different samples end the run all the same
  /// Called, from a thread of its own, for a sample that takes longer than this; 0: nobody looks.
  std::chrono::milliseconds stall_limit{0};
  std::function<void(const std::string& sample_name, double seconds)> on_stall = {};
  /// Asked now and then while next() or the destructor waits for a worker; true: do not wait any
  /// longer. A read can take for ever (a network file system whose server is gone), and no thread
  /// can be ended from outside. next() throws FeedGivenUp then, and the destructor does not wait:
  /// workers that still read keep the source and their memory until their reads end. Without it,
  /// both wait. It must not throw.
  std::function<bool()> give_up = {};
};

/// Which batches a feed with these options gives for this many samples.
[[nodiscard]] STOKER_API BatchPlan plan_of(const FeedOptions& options, std::uint64_t samples);

/// A sample that could not be made, by name.
class STOKER_API SampleError : public Error {
 public:
  SampleError(std::string sample_name, Cursor place, const std::string& reason);
  [[nodiscard]] const std::string& sample_name() const noexcept { return sample_name_; }
  [[nodiscard]] const Cursor& place() const noexcept { return place_; }

 private:
  std::string sample_name_;
  Cursor place_;
};

/// The reader's FeedOptions::give_up said that it is not worth waiting for the next batch.
class STOKER_API FeedGivenUp : public Error {
 public:
  using Error::Error;
};

/// Gives batches, made ahead by its workers. See the top of this file.
class Feed {
 public:
  STOKER_API Feed(std::shared_ptr<const Source> source, Policy policy, const FeedOptions& options);
  STOKER_API ~Feed();
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  /// The next batch in order; nothing at the end. Throws SampleError when it comes to a batch with
  /// a sample that could not be made: batches before it are given, none after it. Throws Error
  /// while the batch given ring_batches before is still held and held_bytes are used up: there is
  /// no memory for the next one.
  [[nodiscard]] STOKER_API std::optional<Batch> next();
  /// Whether next() would not wait; waits for that, at most this long. For readers that have to
  /// look at something else now and then. Same thread as next().
  [[nodiscard]] STOKER_API bool wait_for(std::chrono::milliseconds limit);

  [[nodiscard]] STOKER_API FeedStats stats() const;
  /// Samples that were replaced or omitted (on_error) in the batches given so far, in their order.
  [[nodiscard]] STOKER_API const std::vector<SampleFault>& faults() const noexcept;
  [[nodiscard]] STOKER_API int workers() const noexcept;
  [[nodiscard]] STOKER_API const BatchPlan& plan() const noexcept;
  [[nodiscard]] STOKER_API const ImageShape& image_shape() const noexcept;
  [[nodiscard]] STOKER_API PixelType pixel_type() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stoker
