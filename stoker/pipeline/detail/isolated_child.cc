#include "stoker/pipeline/detail/isolated_child.h"

#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>
#include <unordered_set>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "stoker/core/float_mode.h"
#include "stoker/pipeline/detail/sandbox.h"

namespace stoker::detail {
namespace {

// No allocation: this also runs when there is no memory.
void set_reason(Report& report, Report::Outcome outcome, const char* reason) {
  report.outcome = outcome;
  std::snprintf(report.reason, sizeof(report.reason), "%s", reason);
}

// The places of batches that this process has written to. It has no pages of one before: without
// this, the first write to each would end in the kernel, 150 times for a photograph.
class MappedPlaces {
  static constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, which glibc 2.34 does not name

 public:
  void map(std::span<std::byte> pixels) {
    if (pixels.empty() || !known_.insert(pixels.data()).second) return;
    static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const std::size_t before = reinterpret_cast<std::uintptr_t>(pixels.data()) % page;
    // A wish: systems without it map pages one by one.
    madvise(pixels.data() - before, before + pixels.size(), kPopulateWrite);
  }

 private:
  std::unordered_set<const std::byte*> known_;
};

void make(const Assignment& job, SampleMaker& maker, Report& report) {
  StageTimes stages;
  report.label = maker.make(
      {.index = job.index, .epoch = job.epoch, .pixels = job.pixels, .encoded = job.encoded},
      job.timed ? &stages : nullptr);
  report.read_ns = stages.read.count();
  report.augment_ns = stages.augment.count();
  report.write_ns = stages.write.count();
}

// False: the process should not go on.
bool make_or_tell_why_not(const ChildSetup& setup, const Assignment& job, MappedPlaces& places,
                          SampleMaker& maker, Report& report) {
  using Outcome = Report::Outcome;
  try {
    places.map(job.pixels);
    make(job, maker, report);
    return true;
  } catch (const std::bad_alloc&) {
    set_reason(report, Outcome::kFailed, "");
    std::snprintf(report.reason, sizeof(report.reason), "out of memory: it takes more than %zu MB",
                  setup.memory_limit >> 20);
    return false;
  } catch (const std::exception& error) {
    set_reason(report, Outcome::kFailed, error.what());
  } catch (...) {
    set_reason(report, Outcome::kFailed, "an unknown exception");
  }
  return true;
}

void lock_down_or_end(const ChildSetup& setup) {
  try {
    lock_down(setup.memory_limit);
  } catch (const std::exception& error) {
    Report report{.worker = setup.worker};
    set_reason(report, Report::Outcome::kCannotStart, error.what());
    setup.queue->put(report);
    _exit(kRetired);
  }
}

}  // namespace

void run_isolated_child(const ChildSetup& setup, const SampleRecipe& recipe) noexcept {
  // A wish: refused, it changes only speed.
  if (setup.niceness > 0) setpriority(PRIO_PROCESS, 0, setup.niceness);
  set_float_mode(FloatMode::kExact);  // whatever the program around has
  lock_down_or_end(setup);
  SampleMaker maker(recipe);
  MappedPlaces places;
  JobBoard& board = *setup.board;
  for (std::uint64_t done = 0;; ++done) {
    board.gate.wait([&] { return board.posted.load() != done; });
    const Assignment job = board.jobs[done % JobBoard::kEntries];
    Report report{.worker = setup.worker, .serial = job.serial};
    const bool usable = make_or_tell_why_not(setup, job, places, maker, report);
    if (!setup.queue->put(report) || !usable) _exit(kRetired);
  }
}

}  // namespace stoker::detail
