// Small runs for the tests of this module: made-up images, few steps.
#pragma once

#include <memory>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "stoker/nn/networks/registry.h"
#include "stoker/pipeline/test_sources.h"
#include "stoker/train/trainer.h"

namespace stoker::test {

inline TrainData made_up_data() {
  return {.train = std::make_shared<MadeUpSource>(100),
          .validation = std::make_shared<MadeUpSource>(30),
          .policy = Policy::parse("shift(-1,1),noise(0.1)")};
}

inline State new_state(const std::string& architecture = "mlp:180,16,2",
                       const OptimiserOptions& options = {}) {
  at::set_num_threads(1);
  return {make_model(architecture, {.image = {9, 20, 1}, .classes = 2}, 1), options};
}

inline TrainOptions small_options() {
  TrainOptions options;
  options.feed.epochs = 3;
  options.feed.batch_size = 8;
  options.feed.seed = 7;
  options.feed.workers = 2;
  options.schedule.lr = 0.05;
  return options;
}

// True where every tensor and number of both is the same, bit for bit.
inline bool same(const State& a, const State& b) {
  const auto left = tensors_of(a), right = tensors_of(b);
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!at::equal(left[i].tensor, right[i].tensor)) return false;
  }
  return numbers_of(a) == numbers_of(b);
}

}  // namespace stoker::test
