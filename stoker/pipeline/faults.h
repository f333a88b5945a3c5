/// \file
/// Samples that could not be made, and what is to happen with them. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/core/error.h"
#include "stoker/export.h"
#include "stoker/pipeline/plan.h"

namespace stoker {

/// What happens with a sample that cannot be made.
enum class OnError : std::uint8_t {
  kStop,  ///< the run ends with the first sample that cannot be made
  kSkip,  ///< it is replaced by the sample at the next position
  kOmit,  ///< its place stays, black and without a class, for readers who look at faults()
};

/// A sample that could not be made.
struct SampleFault {
  std::uint64_t index = 0;  ///< in the source
  std::string name;
  std::string reason;
  Cursor place;  ///< where it would have stood
};

/// More samples could not be made than the user allows.
class STOKER_API TooManyFaults : public Error {
 public:
  TooManyFaults(std::vector<SampleFault> faults, std::uint64_t most);
  [[nodiscard]] const std::vector<SampleFault>& faults() const noexcept { return faults_; }

 private:
  std::vector<SampleFault> faults_;  ///< all of them, the one too many last
};

/// "sample,reason,epoch,position" with a line for each.
[[nodiscard]] STOKER_API std::string faults_as_csv(const std::vector<SampleFault>& faults);

}  // namespace stoker
