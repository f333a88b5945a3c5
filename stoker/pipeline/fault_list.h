// Samples that could not be made and were replaced or omitted: gathered from workers in any order,
// told to the reader in the order of the batches, so that what it sees, and when too many are too
// many, does not depend on timing.
//
// note() by any number of threads; collect() and list() by the reader.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "stoker/pipeline/faults.h"

namespace stoker {

class Faults {
 public:
  // More different samples than this are an error.
  explicit Faults(std::uint64_t most) : most_(most) {}

  void note(std::uint64_t batch, SampleFault fault);
  // Those of one batch, which is finished. Throws TooManyFaults when there are now too many.
  void collect(std::uint64_t batch);
  // Collected so far, in order.
  [[nodiscard]] const std::vector<SampleFault>& list() const noexcept { return collected_; }

 private:
  std::uint64_t most_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::vector<SampleFault>> noted_;  // by batch
  std::vector<SampleFault> collected_;                       // the reader's
  std::set<std::uint64_t> samples_;                          // the reader's: different ones
};

}  // namespace stoker
