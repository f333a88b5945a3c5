// Which batch size suits a model and the machine: training steps on made-up images, twice as
// large each time, until the memory is used up or more brings no speed.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "stoker/nn/model.h"

namespace stoker {

struct BatchProbe {
  std::uint32_t size = 0;
  double samples_per_second = 0;
};

struct BatchChoice {
  std::vector<BatchProbe> tried;
  std::uint32_t size = 0;
  bool out_of_memory = false;  // beyond the largest that was tried
};

// On a CPU the smallest size within 5 % of the best speed; on an accelerator the largest that fits.
// At most `most`. Leaves the model as it was. Depends on the machine and on what else it does.
[[nodiscard]] BatchChoice choose_batch_size(
    Model& model, std::uint32_t most, const std::function<void(const BatchProbe&)>& on_probe = {});

}  // namespace stoker
