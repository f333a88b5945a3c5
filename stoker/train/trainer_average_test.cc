// Trainer with an equal average of the weights: stochastic weight averaging.
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/train/device_batches.h"
#include "stoker/train/test_runs.h"
#include "stoker/train/training_feed.h"

namespace stoker {
namespace {

constexpr AverageOptions kFromEpoch1 = {.equal_from = 1};

State averaged_state(const AverageOptions& average = kFromEpoch1) {
  State plain = test::new_state("cnn:4,8");
  return {std::move(plain.model), {}, average};
}

// What is validated and saved after each epoch.
class SavedWeights final : public Observer {
 public:
  std::vector<std::vector<at::Tensor>> epochs;
  void epoch_done(const EpochReport& report) override {
    auto& tensors = epochs.emplace_back();
    for (const NamedTensor& t : all_tensors(*report.state.model)) {
      tensors.push_back(t.tensor.detach().clone());
    }
  }
};

std::vector<std::vector<at::Tensor>> saved_weights(State& state, const TrainOptions& options) {
  SavedWeights saved;
  Trainer(state, test::made_up_data(), options, saved).run();
  return saved.epochs;
}

TEST(EqualAverage, IsTheMeanOfTheWeightsAtTheEndsOfEpochs) {
  State averaged = averaged_state(), plain = test::new_state("cnn:4,8");
  const auto found = saved_weights(averaged, test::small_options());
  const auto own = saved_weights(plain, test::small_options());
  const std::size_t weights = plain.model->parameters().size();
  for (std::size_t i = 0; i < weights; ++i) {
    EXPECT_TRUE(at::equal(found[0][i], own[0][i])) << "before its first epoch there is none";
    EXPECT_TRUE(at::equal(found[1][i], own[1][i]));
    EXPECT_TRUE(at::allclose(found[2][i], (own[1][i] + own[2][i]) / 2, 1e-5, 1e-7));
    EXPECT_TRUE(at::equal(all_tensors(*averaged.model)[i].tensor, own[2][i]))
        << "the average does not change the training";
  }
}

// Means over the last epoch's batches of what the first norm sees, computed by hand.
TEST(EqualAverage, HasStatisticsOfItsOwnWeights) {
  TrainOptions options = test::small_options();
  State averaged = averaged_state();
  const auto saved = saved_weights(averaged, options).back();
  const std::vector<NamedTensor> tensors = all_tensors(*averaged.model);
  const auto saved_tensor = [&](const std::string& name) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].name == name) return saved[i];
    }
    throw std::runtime_error("no tensor " + name);
  };
  const TrainData data = test::made_up_data();
  FeedOptions feed_options = training_feed_options(data, options, nullptr);
  feed_options.begin = {.epoch = options.feed.epochs - 1, .position = 0};
  Feed feed(data.train, data.policy, feed_options);
  DeviceBatches batches(feed, at::kCPU, data.normalisation);
  at::Tensor mean = at::zeros({4}), variance = at::zeros({4});
  int count = 0;
  while (const auto batch = batches.next()) {
    const at::Tensor seen = at::max_pool2d(
        at::conv2d(batch->values, saved_tensor("stages.0.conv.weight"), {}, 1, 1), {2, 2});
    mean += seen.mean({0, 2, 3});
    variance += seen.var({0, 2, 3}, /*unbiased=*/true);
    ++count;
  }
  EXPECT_TRUE(at::allclose(saved_tensor("stages.0.norm.running_mean"), mean / count, 1e-4, 1e-6));
  EXPECT_TRUE(
      at::allclose(saved_tensor("stages.0.norm.running_var"), variance / count, 1e-4, 1e-6));
}

TEST(EqualAverage, StoppingAnywhereChangesNothing) {
  State whole = averaged_state(), broken = averaged_state();
  TrainOptions options = test::small_options();
  options.feed.epochs = 4;
  const auto expected = saved_weights(whole, options);
  std::vector<std::vector<at::Tensor>> found;
  const auto stop = [] { return true; };
  RunEnd end = RunEnd::kStopped;
  while (end == RunEnd::kStopped) {
    SavedWeights saved;
    end = Trainer(broken, test::made_up_data(), options, saved, stop).run();
    found.insert(found.end(), saved.epochs.begin(), saved.epochs.end());
  }
  EXPECT_TRUE(test::same(whole, broken));
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.back().size(); ++i) {
    EXPECT_TRUE(at::equal(found.back()[i], expected.back()[i]));
  }
}

}  // namespace
}  // namespace stoker
