// Small runs on any device, and what they end with.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "stoker/train/test_runs.h"

namespace stoker::fake {

struct RunSetup {
  std::string architecture = "cnn:4,8";
  OptimiserOptions optimiser = {.kind = OptimiserKind::kAdamW};
  AverageOptions average = {};
  Precision precision = Precision::kFloat32;
  bool head_only = false;
  TrainOptions options = test::small_options();
};

inline State state_on(const c10::Device& where, const RunSetup& setup) {
  auto model = make_model(setup.architecture, {.image = {9, 20, 1}, .classes = 2}, 1);
  model->compute_in(setup.precision);
  if (setup.head_only) model->freeze(model->stages().size() - 1);
  model->to(where);
  return {std::move(model), setup.optimiser, setup.average};
}

struct Splits final : Observer {
  std::uint32_t parts = 1;
  double loss = 0;
  void batch_split(std::uint32_t now) override { parts = now; }
  void epoch_done(const EpochReport& report) override { loss = report.validation.loss; }
};

// All of a state, on the host.
struct Ended {
  std::vector<NamedTensor> tensors = {};
  std::string numbers = {};
  std::uint32_t parts = 1;
  double loss = 0;

  [[nodiscard]] bool operator==(const Ended& other) const {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (at::equal(tensors[i].tensor, other.tensors[i].tensor)) continue;
      ADD_FAILURE() << tensors[i].name << " differs by "
                    << (tensors[i].tensor - other.tensors[i].tensor).abs().max().item<double>();
      return false;
    }
    EXPECT_EQ(numbers, other.numbers);
    return tensors.size() == other.tensors.size();
  }
};

inline Ended ended(const State& state, const Splits& seen) {
  Ended end{.numbers = numbers_of(state), .parts = seen.parts, .loss = seen.loss};
  for (const NamedTensor& each : tensors_of(state)) {
    end.tensors.push_back({each.name, each.tensor.detach().to(at::kCPU).clone()});
  }
  return end;
}

inline Ended trained_on(const c10::Device& where, const RunSetup& setup) {
  State state = state_on(where, setup);
  Splits seen;
  EXPECT_EQ(Trainer(state, test::made_up_data(), setup.options, seen).run(), RunEnd::kAllEpochs);
  return ended(state, seen);
}

}  // namespace stoker::fake
