#include "stoker/train/share_state.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

namespace stoker {

void share_state(Group& group, State& state) {
  const at::NoGradGuard no_grad;
  for (const NamedTensor& named : tensors_of(state)) {
    // c10d sends memory as it lies, without gaps.
    at::Tensor values = named.tensor.detach().contiguous();
    group.broadcast(values, "rank 0's state");
    if (group.rank() != 0) named.tensor.detach().copy_(values);
  }
  const std::string numbers = group.share_text("state", numbers_of(state));
  if (group.rank() != 0) read_numbers(state, numbers, "rank 0's state");
}

}  // namespace stoker
