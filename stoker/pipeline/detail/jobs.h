// Jobs: which sample goes to which place, and what happens to a place whose sample cannot be made.
// The same for threads and worker processes. A JobList belongs to one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stoker/data/order/sampler.h"
#include "stoker/data/sources/source.h"
#include "stoker/pipeline/fault_list.h"
#include "stoker/pipeline/ring.h"

namespace stoker::detail {

// What the workers of a feed share. Refers to what the feed owns.
struct Work {
  const Source& source;
  const EpochOrder& order;
  Ring& ring;
  Faults& faults;
  OnError on_error;
};

// Tells the source with which samples this reader will begin. Before its workers begin.
void announce_first(const Work& work);

// One sample to be made; of an empty run, the duty to finish it.
struct Job {
  Ring::Run run;
  std::uint32_t place = 0;  // in the run
  std::uint64_t position = 0;
  std::uint64_t index = 0;  // in the source
  // Where the sample that stood here could not be made, another is tried.
  std::uint64_t tried_position = 0;
  std::uint64_t tries = 0;
};

class JobList {
 public:
  explicit JobList(const Work& work) : work_(work), order_(work.order.reader()) {}

  // Reserves the next run where the last one is used up; nothing at the end of the plan.
  [[nodiscard]] std::optional<Job> next();

  // The sample could not be made. True: it is noted, and the job is now to make the sample at the
  // next position of the same order; which that is follows from the data alone. False: the place
  // is done. It is empty (kOmit), or carries an error that the reader will see.
  [[nodiscard]] bool try_another(Job& job, std::string reason);

 private:
  void note_fault(const Job& job, std::string reason);
  void leave_empty(const Job& job);
  void note_error(const Job& job, const std::string& reason);
  // In the run, for messages.
  [[nodiscard]] Cursor place_of(const Job& job) const;

  Work work_;
  EpochOrder::Reader order_;
  Ring::Run run_;  // where next() is
  std::uint32_t next_place_ = 0;
};

}  // namespace stoker::detail
