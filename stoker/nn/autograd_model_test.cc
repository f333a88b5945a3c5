#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "stoker/nn/graph/graph_builder.h"
#include "stoker/nn/staged_network.h"

namespace stoker {
namespace {

// Two stages that only note how they were run, and a head.
class NotingModel final : public StagedNetwork {
 public:
  NotingModel()
      : StagedNetwork("noting", {.image = {2, 2, 1}, .classes = 3}),
        head_(at::rand({3, 4}), at::rand({3})) {}

  [[nodiscard]] std::vector<StageContext> taken() const { return std::exchange(noted_, {}); }

  [[nodiscard]] std::int64_t multiply_adds() const override { return 12; }
  [[nodiscard]] std::vector<ModelStage> stages() const override {
    std::vector<ModelStage> all(3);
    head_.append_parameters("head", all.back().parameters);
    return all;
  }

 protected:
  void move_tensors(const at::Device& device) override { head_.to(device); }
  [[nodiscard]] std::size_t body_stages() const override { return 2; }
  [[nodiscard]] at::Tensor run_stage(std::size_t, const at::Tensor& x,
                                     const StageContext& context) const override {
    noted_.push_back(context);
    return x;
  }
  [[nodiscard]] at::Tensor pooled(const at::Tensor& x) const override { return x.flatten(1); }
  [[nodiscard]] const Linear& head() const override { return head_; }
  GraphReference append_stage(std::size_t, GraphBuilder&, GraphReference x) const override {
    return x;
  }
  GraphReference append_pooled(GraphBuilder&, GraphReference x) const override { return x; }

 private:
  Linear head_;
  mutable std::vector<StageContext> noted_;
};

const at::Tensor kImages = at::rand({2, 1, 2, 2});
const at::Tensor kLabels = at::zeros({2}, at::kLong);
const LossOptions kKeyed = {.draw = DrawKey{.seed = 5, .batch = 7}};

TEST(StageContext, HasTheBatchsKeyInTraining) {
  NotingModel model;
  model.backward(kImages, kLabels, kKeyed);
  const std::vector<StageContext> contexts = model.taken();
  ASSERT_EQ(contexts.size(), 2u);
  for (const StageContext& context : contexts) {
    EXPECT_TRUE(context.training);
    ASSERT_TRUE(context.draw_key);
    EXPECT_EQ(context.draw_key->seed, 5u);
    EXPECT_EQ(context.draw_key->batch, 7u);
  }
}

TEST(StageContext, HasNoKeyInUse) {
  const NotingModel model;
  static_cast<void>(model.forward(kImages));
  for (const StageContext& context : model.taken()) {
    EXPECT_FALSE(context.training);
    EXPECT_FALSE(context.draw_key);
  }
}

// A frozen stage computes the same for an image in every epoch, even where its norms are trained.
TEST(StageContext, HasNoKeyInFrozenStages) {
  for (const bool norms : {false, true}) {
    NotingModel model;
    model.freeze(1);
    model.train_frozen_norms(norms);
    model.backward(kImages, kLabels, kKeyed);
    const std::vector<StageContext> contexts = model.taken();
    ASSERT_EQ(contexts.size(), 2u);
    EXPECT_EQ(contexts[0].training, norms);
    EXPECT_FALSE(contexts[0].draw_key);
    EXPECT_TRUE(contexts[1].training);
    EXPECT_TRUE(contexts[1].draw_key);
  }
}

}  // namespace
}  // namespace stoker
