#include "stoker/train/state.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "stoker/train/test_runs.h"

namespace stoker {
namespace {

constexpr OptimiserOptions kAdamW = {.kind = OptimiserKind::kAdamW, .weight_decay = 0.1};

State frozen_state(std::size_t frozen) {
  at::set_num_threads(1);
  auto model = make_model("cnn:4,8", {.image = {9, 20, 1}, .classes = 2}, 1);
  model->freeze(frozen);
  return {std::move(model), kAdamW};
}

TEST(State, TheOptimiserRemembersNothingOfFrozenStages) {
  const auto remembers = [](const State& state, const std::string& name) {
    const auto tensors = tensors_of(state);
    return std::any_of(tensors.begin(), tensors.end(), [&](const NamedTensor& t) {
      return t.name == "optimiser." + name + ".first_moment";
    });
  };
  EXPECT_TRUE(remembers(frozen_state(0), "stages.0.conv.weight"));
  EXPECT_FALSE(remembers(frozen_state(1), "stages.0.conv.weight"));
  EXPECT_TRUE(remembers(frozen_state(1), "stages.1.conv.weight"));
}

// Neither gradients nor weight decay nor running statistics reach a frozen stage.
TEST(State, TrainingLeavesFrozenStagesAsTheyAreBitForBit) {
  for (const std::size_t frozen : {1, 2}) {
    State state = frozen_state(frozen);
    Observer observer;
    Trainer(state, test::made_up_data(), test::small_options(), observer).run();
    const State fresh = frozen_state(frozen);
    const auto before = fresh.model->stages(), after = state.model->stages();
    for (std::size_t i = 0; i < before.size(); ++i) {
      for (const auto which : {&ModelStage::parameters, &ModelStage::buffers}) {
        for (std::size_t j = 0; j < (before[i].*which).size(); ++j) {
          const NamedTensor& tensor = (after[i].*which)[j];
          EXPECT_EQ(at::equal(tensor.tensor, (before[i].*which)[j].tensor), i < frozen)
              << tensor.name;
        }
      }
    }
  }
}

TEST(State, StoppingAFrozenRunAnywhereChangesNothing) {
  State whole = frozen_state(1), broken = frozen_state(1);
  Observer observer;
  const TrainOptions options = test::small_options();
  Trainer(whole, test::made_up_data(), options, observer).run();
  while (Trainer(broken, test::made_up_data(), options, observer, [] { return true; }).run() ==
         RunEnd::kStopped) {
  }
  EXPECT_TRUE(test::same(whole, broken));
}

}  // namespace
}  // namespace stoker
