// Batch norms cannot learn from one value a channel. A network whose last feature maps are of one
// pixel therefore fails at a batch of one sample, or where a rank's part of a batch is one sample.
// That is known before the first step.
#pragma once

#include <cstdint>

#include "stoker/nn/model.h"
#include "stoker/train/trainer.h"

namespace stoker {

struct BatchSizes {
  std::uint64_t samples = 0;  // of an epoch
  std::uint32_t batch_size = 0;
  std::uint32_t ranks = 1;
  bool shared_statistics = false;  // batch norms see the parts of all ranks
};

// Some rank gets exactly one sample of some batch; with shared statistics, all ranks together.
[[nodiscard]] bool has_single_samples(const BatchSizes& sizes) noexcept;

// The model can be trained on one sample. Tries it, with the first `frozen` stages frozen; leaves
// the model as it was.
[[nodiscard]] bool learns_from_one_sample(Model& model, std::size_t frozen);

// Throws Error, with batch sizes that fit, where the model would have to and cannot. Costs a pass
// over one sample, where there are such batches.
void refuse_single_samples(Model& model, const TrainData& data, const TrainOptions& options,
                           std::uint32_t ranks);

}  // namespace stoker
