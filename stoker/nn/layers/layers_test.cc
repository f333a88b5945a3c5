#include "stoker/nn/layers/layers.h"

#include <cmath>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/nn/layers/keyed_dropout.h"

namespace stoker {
namespace {

TEST(Dropped, ZeroesTheShareAndKeepsTheMean) {
  const at::Tensor rows = at::full({100, 1280}, 3.0F);
  const at::Tensor out = dropped(rows, rows.size(0), 0.2, {.seed = 1, .batch = 5});
  const at::Tensor zero = out.eq(0);
  const auto count = static_cast<double>(out.numel());
  EXPECT_NEAR(zero.sum().item<double>() / count, 0.2, 5 * std::sqrt(0.2 * 0.8 / count));
  EXPECT_TRUE(at::logical_or(zero, out.eq(3.75)).all().item<bool>());
  EXPECT_FALSE(at::equal(out[0], out[1])) << "each sample has its own";
}

TEST(Dropped, IsAFunctionOfSeedBatchAndPlace) {
  const at::Tensor rows = at::ones({8, 64});
  const at::Tensor out = dropped(rows, rows.size(0), 0.5, {.seed = 1, .batch = 5});
  EXPECT_TRUE(at::equal(out, dropped(rows, rows.size(0), 0.5, {.seed = 1, .batch = 5})));
  EXPECT_FALSE(at::equal(out, dropped(rows, rows.size(0), 0.5, {.seed = 2, .batch = 5})));
  EXPECT_FALSE(at::equal(out, dropped(rows, rows.size(0), 0.5, {.seed = 1, .batch = 6})));
  // However many other samples there are.
  const at::Tensor fewer = dropped(rows.slice(0, 0, 3), 3, 0.5, {.seed = 1, .batch = 5});
  EXPECT_TRUE(at::equal(out.slice(0, 0, 3), fewer));
}

TEST(BatchNorm, CannotLearnFromOneValueAChannel) {
  const BatchNorm norm(3);
  EXPECT_THROW(static_cast<void>(norm(at::rand({1, 3, 1, 1}), {.training = true})), Error);
  EXPECT_NO_THROW(static_cast<void>(norm(at::rand({1, 3, 1, 1}), {})));
  EXPECT_NO_THROW(static_cast<void>(norm(at::rand({2, 3, 1, 1}), {.training = true})));
  EXPECT_TRUE(norm.running_variance.isfinite().all().item<bool>());
}

TEST(BatchNorm, CountsBatchesOnlyInTrainingAndIfAsked) {
  BatchNorm norm(3);
  std::vector<NamedTensor> buffers;
  norm.append_buffers("n", buffers);
  EXPECT_EQ(buffers.size(), 2U);
  norm.count_batches();
  for (const bool training : {true, false, true}) {
    static_cast<void>(norm(at::rand({2, 3, 4, 4}), {.training = training}));
  }
  norm.append_buffers("n", buffers);
  EXPECT_EQ(buffers.back().name, "n.num_batches_tracked");
  EXPECT_EQ(buffers.back().tensor.item<std::int64_t>(), 2);
}

}  // namespace
}  // namespace stoker
