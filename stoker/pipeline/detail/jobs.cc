#include "stoker/pipeline/detail/jobs.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "stoker/pipeline/feed.h"

namespace stoker::detail {
namespace {

constexpr std::uint64_t kMostReplacements = 1000;  // for one place: then something else is wrong

// The batch that a reader waits for, and the one that it may copy ahead.
constexpr std::uint64_t kFirstBatches = 2;

}  // namespace

// Not where samples that cannot be read are replaced: of a shard that is damaged in the store some
// could be read by themselves, so what is in a batch would depend on timing.
void announce_first(const Work& work) {
  if (work.on_error != OnError::kStop || work.source.layout() == nullptr) return;
  const BatchPlan& plan = work.ring.plan();
  const std::uint64_t end = std::min(plan.end_batch(), plan.first_batch() + kFirstBatches);
  EpochOrder::Reader order = work.order.reader();
  std::vector<std::uint64_t> samples;
  for (std::uint64_t batch = plan.first_batch(); batch < end; ++batch) {
    const BatchPlan::Share share = plan.share(batch);
    for (std::uint64_t i = 0; i < share.count; ++i) {
      samples.push_back(order.sample_at(share.epoch, share.first_position + i * share.step));
    }
  }
  work.source.expect_first(samples);
}

std::optional<Job> JobList::next() {
  if (next_place_ >= run_.count) {
    const auto run = work_.ring.reserve();
    if (!run) return std::nullopt;
    run_ = *run;
    next_place_ = 0;
  }
  if (run_.count == 0) return Job{.run = run_};
  const std::uint32_t place = next_place_++;
  const std::uint64_t position =
      run_.first_position + std::uint64_t{place} * work_.ring.plan().step();
  const std::uint64_t index = order_.sample_at(run_.epoch, position);
  if (const auto [lane, shards] = order_.take_shards_ahead(); !shards.empty()) {
    work_.source.expect(lane, shards);
  }
  return Job{.run = run_,
             .place = place,
             .position = position,
             .index = index,
             .tried_position = position};
}

bool JobList::try_another(Job& job, std::string reason) {
  if (work_.on_error == OnError::kOmit) {
    note_fault(job, std::move(reason));
    leave_empty(job);
    return false;
  }
  const bool give_up = work_.on_error == OnError::kStop || job.tries == kMostReplacements ||
                       job.tries + 1 == work_.order.size();
  if (give_up) {
    note_error(job, reason);
    return false;
  }
  note_fault(job, std::move(reason));
  ++job.tries;
  job.tried_position = (job.tried_position + 1) % work_.order.size();
  job.index = order_.sample_at(job.run.epoch, job.tried_position);
  return true;
}

void JobList::note_fault(const Job& job, std::string reason) {
  work_.faults.note(job.run.batch, {.index = job.index,
                                    .name = work_.source.sample_name(job.index),
                                    .reason = std::move(reason),
                                    .place = place_of(job)});
}

void JobList::leave_empty(const Job& job) {
  const Ring::Place place = work_.ring.place(job.run, job.place);
  std::ranges::fill(place.pixels, std::byte{0});
  *place.label = -1;
  *place.index = job.index;
  work_.ring.put_numbers(job.run, job.place,
                         std::vector<float>(number_count(work_.source.fields())));
}

Cursor JobList::place_of(const Job& job) const {
  return work_.ring.plan().cursor_of(job.run.epoch, job.position);
}

// Naming the sample may fail too, for want of memory or because the source cannot tell.
void JobList::note_error(const Job& job, const std::string& reason) {
  std::exception_ptr named;
  try {
    named = std::make_exception_ptr(
        SampleError(work_.source.sample_name(job.index), place_of(job), reason));
  } catch (...) {
    named = std::current_exception();
  }
  work_.ring.fail(job.run, job.place, std::move(named));
}

}  // namespace stoker::detail
