// After a collective has failed: who is still there? Every rank that notices writes a line into the
// store and looks who else does. Those that do not are the ones that died, hang or are cut off.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace stoker::detail {

// Of a thousand ranks that are silent, the first ones are named.
inline constexpr std::size_t kMostSilent = 16;

struct FaultReport {
  bool store_answers = false;
  std::vector<int> silent;  // wrote nothing in time; the first kMostSilent of them
  std::vector<std::pair<int, std::string>> failed;  // ended by an error of their own, with its text
};

// How long to wait for ranks that have not written. Where the cause is known, whoever keeps the
// store has reason to wait longer: ranks that are busy have not noticed yet, and would only find
// the store gone.
struct FaultPatience {
  std::chrono::milliseconds without_cause{0}, with_cause{0};
};

// `own_error` is empty where this rank only lost the others. Waits less where everybody has
// written, and no longer than without a cause where the store does not answer at all.
[[nodiscard]] FaultReport exchange_fault_reports(const c10::intrusive_ptr<c10d::Store>& store,
                                                 int rank, int ranks, const std::string& own_error,
                                                 const FaultPatience& patience);

}  // namespace stoker::detail
