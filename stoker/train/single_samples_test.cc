#include "stoker/train/single_samples.h"

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/nn/tensor_views.h"
#include "stoker/train/test_runs.h"

namespace stoker {
namespace {

TEST(SingleSamples, AreFoundInTheLastBatchAndInPartsOfRanks) {
  EXPECT_TRUE(has_single_samples({.samples = 24, .batch_size = 23}));
  EXPECT_FALSE(has_single_samples({.samples = 24, .batch_size = 22}));
  EXPECT_FALSE(has_single_samples({.samples = 24, .batch_size = 24}));
  EXPECT_TRUE(has_single_samples({.samples = 24, .batch_size = 1}));
  EXPECT_TRUE(has_single_samples({.samples = 1, .batch_size = 8}));
  // The last batch of 3 is 2 and 1, that of 2 is 1 and 1, and one of 1 leaves a rank none.
  for (const std::uint64_t left : {1, 2, 3}) {
    EXPECT_TRUE(has_single_samples({.samples = 16 + left, .batch_size = 8, .ranks = 2})) << left;
  }
  EXPECT_FALSE(has_single_samples({.samples = 20, .batch_size = 8, .ranks = 2}));
  EXPECT_TRUE(has_single_samples({.samples = 16, .batch_size = 4, .ranks = 4}));
  EXPECT_FALSE(
      has_single_samples({.samples = 18, .batch_size = 8, .ranks = 2, .shared_statistics = true}));
  EXPECT_TRUE(
      has_single_samples({.samples = 17, .batch_size = 8, .ranks = 2, .shared_statistics = true}));
}

// Four halvings leave 1x1 of 9x20 in the last stage, where its batch norm sees one value.
constexpr const char* kOnePixel = "cnn:4,4,4,4";

State state_of(const char* architecture) {
  at::set_num_threads(1);
  return {make_model(architecture, {.image = {9, 9, 1}, .classes = 2}, 1), {}};
}

TEST(SingleSamples, OnlySomeNetworksCannotLearnFromThem) {
  EXPECT_TRUE(learns_from_one_sample(*state_of("mlp:81,8,2").model, 0));
  EXPECT_TRUE(learns_from_one_sample(*state_of("cnn:4,4").model, 0));
  State state = state_of(kOnePixel);
  EXPECT_FALSE(learns_from_one_sample(*state.model, 0));
  EXPECT_TRUE(learns_from_one_sample(*state.model, 4)) << "frozen norms take running statistics";
  EXPECT_EQ(state.model->frozen(), 0U);
  EXPECT_TRUE(test::same(state, state_of(kOnePixel))) << "asking changes nothing";
}

TrainData data_of(std::uint64_t samples) {
  TrainData data = test::made_up_data();
  data.train = std::make_shared<test::MadeUpSource>(samples, ImageShape{.height = 9, .width = 9});
  data.validation = data.train;
  return data;
}

TEST(SingleSamples, AreRefusedBeforeTheFirstStepWithSizesThatFit) {
  State state = state_of(kOnePixel);
  TrainOptions options = test::small_options();
  options.feed.batch_size = 23;
  Observer nobody;
  try {
    static_cast<void>(Trainer(state, data_of(24), options, nobody));
    FAIL() << "24 samples in batches of 23";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("`batch_size` 22 or 24"), std::string::npos)
        << error.what();
  }
  options.feed.batch_size = 22;
  EXPECT_EQ(Trainer(state, data_of(24), options, nobody).run(), RunEnd::kAllEpochs);
  EXPECT_THROW(refuse_single_samples(*state.model, data_of(24), options, 2), Error);
  options.shared_statistics = true;
  refuse_single_samples(*state.model, data_of(24), options, 2);
}

}  // namespace
}  // namespace stoker
