// Group: the ranks of one job, connected through LibTorch's c10d (Gloo for tensors on the CPU, NCCL
// for those on GPUs).
//
// Every rank makes the same calls in the same order. Every wait ends: with the result, or, after at
// most the timeout, with a GroupError that says which rank died, hangs or is cut off. After that
// the group is of no use. One thread; sum_statistics() may be called from another.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include "stoker/core/error.h"
#include "stoker/distributed/launch.h"

namespace c10d {
class ProcessGroup;
class Work;
}  // namespace c10d

namespace stoker {

// The others are lost, whatever this rank did.
class GroupError : public Error {
 public:
  using Error::Error;
};

struct GroupOptions {
  // From the moment when a rank falls silent to the error that all others get.
  std::chrono::milliseconds timeout{300'000};
  // Name of the network interface to use; empty: the one that leads to the meeting place.
  std::string interface = {};
  c10::Device device = c10::DeviceType::CPU;  // of the tensors; others lie on the CPU
  // With which ranks prove themselves (secret.h); empty: whoever reaches the store takes part.
  std::string secret = {};
};

class Group {
 public:
  // Waits for all ranks.
  Group(const Launch& launch, const GroupOptions& options);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  [[nodiscard]] int rank() const noexcept { return launch_.rank; }
  [[nodiscard]] int ranks() const noexcept { return launch_.ranks; }
  // With what was learnt of the other ranks.
  [[nodiscard]] const Launch& launch() const noexcept { return launch_; }
  // "rank 2 (node7, 10.0.0.7)"
  [[nodiscard]] std::string name_of(int rank) const;

  // A sum under way; the tensor holds it after wait().
  class Pending {
   public:
    Pending(Group& group, const char* what, c10::intrusive_ptr<c10d::Work> work);
    ~Pending();
    Pending(Pending&&) noexcept;
    Pending& operator=(Pending&&) = delete;
    void wait();

   private:
    Group& group_;
    const char* what_;
    c10::intrusive_ptr<c10d::Work> work_;
  };
  // `what` stands in the error; it must be a literal. The tensor has no gaps.
  [[nodiscard]] Pending start_sum(const at::Tensor& tensor, const char* what);
  void sum(const at::Tensor& tensor, const char* what) { start_sum(tensor, what).wait(); }
  // In a group of its own, so that it may come between other calls in any order. All ranks open it
  // first.
  void open_statistics();
  void sum_statistics(const at::Tensor& tensor);
  // All ranks get rank 0's values.
  void broadcast(const at::Tensor& tensor, const char* what);
  // Everybody's, of the same shape, in the order of the ranks.
  [[nodiscard]] std::vector<at::Tensor> gather(const at::Tensor& mine, const char* what);
  // All ranks get rank 0's text; each name once.
  [[nodiscard]] std::string share_text(const std::string& name, const std::string& rank_0s);

  // Runs what uses c10d by itself. Errors of ours pass through; others become a GroupError.
  void guarded(const char* what, const std::function<void()>& action);

  // This rank ends with an error of its own: the others get its text instead of a riddle. Waits
  // until they have seen it, for a while.
  void tell_failure(const std::string& message) noexcept;
  // The end as it should be. Rank 0 stays until all have come here.
  void leave();

  struct Handles;  // detail/handles.h
  [[nodiscard]] const Handles& handles() const noexcept { return *handles_; }

 private:
  void connect(const GroupOptions& options);
  [[nodiscard]] c10::intrusive_ptr<c10d::ProcessGroup> new_process_group(const char* name);
  void learn_about_others();
  [[noreturn]] void fail(const char* what, const std::string& reason);
  [[nodiscard]] std::string verdict(const std::string& own_error);

  Launch launch_;
  c10::Device device_;
  std::chrono::milliseconds patience_;   // for finding out who is missing
  std::chrono::milliseconds operation_;  // for one collective
  std::string address_;                  // our own
  std::vector<std::string> names_;       // "node7, 10.0.0.7"
  std::unique_ptr<Handles> handles_;
  std::set<int> connections_;  // descriptors of those to other ranks
};

}  // namespace stoker
