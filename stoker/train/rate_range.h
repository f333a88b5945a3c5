// Which learning rate suits a model and its data: a short training whose rate grows with every
// step, until the loss runs away (L. Smith, "Cyclical Learning Rates", 2015). The rate at which the
// loss fell fastest is a good one to begin with.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "stoker/nn/model.h"
#include "stoker/train/options.h"
#include "stoker/train/trainer.h"

namespace stoker {

struct RateRangeOptions {
  double lowest = 1e-6, highest = 1;
  std::uint32_t steps = 100;
};

struct RateRange {
  std::vector<double> rates;   // tried, in equal ratios
  std::vector<double> losses;  // of a batch each, smoothed
  double suggested = 0;
};

// Leaves the model as it was. `on_step` hears how many steps are done. The same result for the same
// model, data and options. Throws Error where no step gives a finite loss.
[[nodiscard]] RateRange try_rates(Model& model, const OptimiserOptions& optimiser,
                                  const TrainData& data, const TrainOptions& options,
                                  const RateRangeOptions& range = {},
                                  const std::function<void(std::uint32_t)>& on_step = {});

// Where the curve of losses over the rates' logarithms falls fastest before its lowest point.
[[nodiscard]] double steepest_rate(const std::vector<double>& rates,
                                   const std::vector<double>& losses);

}  // namespace stoker
