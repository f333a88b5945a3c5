// Samples that could not be made and were replaced or left out: gathered from workers in any order,
// told to the reader in the order of the batches, so that what it sees, and when too many are too
// many, does not depend on timing.
//
// note() by any number of threads; collect() and list() by the reader.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "stoker/core/error.h"
#include "stoker/pipeline/plan.h"

namespace stoker {

enum class OnError : std::uint8_t {
  kStop,  // the run ends with the first sample that cannot be made
  kSkip,  // it is replaced by the sample at the next position
  kOmit,  // its place stays, black and without a class, for readers who look at faults()
};

struct SampleFault {
  std::uint64_t index = 0;  // in the source
  std::string name;
  std::string reason;
  Cursor place;  // where it would have stood
};

// More samples could not be made than the user allows.
class TooManyFaults : public Error {
 public:
  TooManyFaults(std::vector<SampleFault> faults, std::uint64_t most);
  [[nodiscard]] const std::vector<SampleFault>& faults() const noexcept { return faults_; }

 private:
  std::vector<SampleFault> faults_;  // all of them, the one too many last
};

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

// "sample,reason,epoch,position" with a line for each.
[[nodiscard]] std::string faults_as_csv(const std::vector<SampleFault>& faults);

}  // namespace stoker
