#include "stoker/train/local_sync.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "stoker/nn/layers/shared_statistics.h"

namespace stoker {

void LocalSync::begin_step() {
  if (!knows_statistics_) {
    statistics_.clear();
    before_step_.clear();
    for (const NamedTensor& buffer : state_.model->changing_buffers()) {
      statistics_.push_back(buffer.tensor);
      before_step_.push_back(at::empty_like(buffer.tensor));
    }
    knows_statistics_ = true;
  }
  if (statistics_.empty()) return;
  const at::NoGradGuard no_grad;
  at::_foreach_copy_(before_step_, statistics_);
  in_step_ = true;
}

void LocalSync::pass(const std::function<void()>& action) {
  if (!shared_statistics_) return action();
  const SharedStatistics alone([](const at::Tensor&) {});
  action();
}

void LocalSync::forget_passes() {
  const at::NoGradGuard no_grad;
  if (in_step_) at::_foreach_copy_(statistics_, before_step_);
}

}  // namespace stoker
