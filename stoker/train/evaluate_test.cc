#include "stoker/train/evaluate.h"

#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/train/test_runs.h"

namespace stoker {
namespace {

const EvaluateOptions kSmall = {.batch_size = 8, .workers = 2};

std::shared_ptr<test::MadeUpSource> source_without(std::uint64_t damaged) {
  auto source = std::make_shared<test::MadeUpSource>(30);
  source->unreadable = damaged;
  return source;
}

struct Heard {
  std::map<std::uint64_t, float> losses;  // by sample
  std::vector<std::string> skipped;       // names
  MetricsResult result;
};

Heard heard(const State& state, const std::shared_ptr<const Source>& source,
            const EvaluateOptions& options) {
  Heard all;
  all.result = evaluate(*state.model, source, options, [&](const Predictions& predictions) {
    for (std::size_t i = 0; i < predictions.indices.size(); ++i) {
      all.losses[predictions.indices[i]] = predictions.losses[i];
      EXPECT_EQ(predictions.labels[i], static_cast<std::int64_t>(predictions.indices[i] % 2));
    }
    for (const SampleFault& fault : predictions.skipped) all.skipped.push_back(fault.name);
  });
  return all;
}

TEST(Evaluate, ASkippedSampleIsInNoFigureAndChangesNoOther) {
  const State state = test::new_state("cnn:4,8");
  EvaluateOptions skip = kSmall;
  skip.on_error = OnError::kSkip;
  const Heard whole = heard(state, source_without(99), skip);
  EXPECT_EQ(whole.result.samples, 30);
  EXPECT_EQ(whole.result.skipped, 0);
  for (const std::uint64_t damaged : {0, 7, 8, 29}) {
    const Heard rest = heard(state, source_without(damaged), skip);
    EXPECT_EQ(rest.result.samples, 29);
    EXPECT_EQ(rest.result.skipped, 1);
    EXPECT_EQ(rest.skipped, std::vector<std::string>{fmt::format("made-up#{}", damaged)});
    auto expected = whole.losses;
    expected.erase(damaged);
    EXPECT_EQ(rest.losses, expected) << damaged;
  }
}

TEST(Evaluate, FeaturesSkipTheSameSamples) {
  State state = test::new_state("cnn:4,8");
  state.model->freeze(2);
  EvaluateOptions skip = kSmall;
  skip.on_error = OnError::kSkip;
  const auto source = source_without(8);
  std::vector<SampleFault> faults;
  const FeatureSet set = compute_features(*state.model, nullptr, source, {},
                                          {.workers = 2,
                                           .batch_size = skip.batch_size,
                                           .normalisation = skip.normalisation,
                                           .on_error = OnError::kSkip},
                                          0, {}, &faults);
  const MetricsResult kept = evaluate_features(*state.model, set, skip, {}, faults);
  const MetricsResult direct = evaluate(*state.model, source, skip);
  EXPECT_EQ(kept.samples, 29);
  EXPECT_EQ(kept.skipped, 1);
  EXPECT_EQ(kept.loss, direct.loss);
  EXPECT_EQ(kept.top1, direct.top1);
}

TEST(Evaluate, WithoutSkippingADamagedSampleIsAnErrorAndTooManyAre) {
  const State state = test::new_state();
  EXPECT_THROW(static_cast<void>(evaluate(*state.model, source_without(3), kSmall)), Error);
  EvaluateOptions none = kSmall;
  none.on_error = OnError::kSkip;
  none.max_errors = 0;
  EXPECT_THROW(static_cast<void>(evaluate(*state.model, source_without(3), none)), TooManyFaults);
}

}  // namespace
}  // namespace stoker
