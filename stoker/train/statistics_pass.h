// Running statistics of batch norms for weights that no step of training had, an average of
// several: one pass over the training data (Izmailov et al., 2018;
// torch.optim.swa_utils.update_bn).
#pragma once

#include <cstdint>

#include "stoker/train/step_sync.h"
#include "stoker/train/trainer.h"

namespace stoker {

// The model's statistics become means over the batches of this epoch, augmented as in training but
// not mixed; its weights stay. Of several ranks each sees its part, and all get the same. Does
// nothing where no statistics change in training.
void recompute_statistics(Model& model, const TrainData& data, const TrainOptions& options,
                          std::uint32_t epoch, StepSync& sync);

}  // namespace stoker
