#include "stoker/run/final_test.h"

#include <fmt/format.h>

#include "stoker/core/metric_list.h"
#include "stoker/nn/model_file.h"
#include "stoker/pipeline/feed.h"
#include "stoker/train/evaluate.h"

namespace stoker {

bool can_test(const TrainSetup& setup) {
  return setup.parts.test != nullptr && setup.state.best.has_value();
}

std::optional<FinalTest> run_final_test(const RunFolder& folder, const RunSettings& settings,
                                        const TrainSetup& setup, const RunEvents& events) {
  const Model& trained = *setup.state.model;
  // Of a run that may diverge and continue, weights may be no numbers: its figures say so.
  const LoadedModel loaded = load_model(folder.best_weights(), /*allow_nonfinite=*/true);
  const std::unique_ptr<Model>& model = loaded.model;
  EvaluateOptions options = validation_options(setup.data, settings.train);
  options.thresholds = loaded.card.thresholds;
  options.give_up = [&events] { return events.stop(); };
  model->to(trained.device());
  model->compute_in(trained.precision());
  struct Stopped {};
  std::uint64_t done = 0;
  const auto watch = [&](const Predictions& batch) {
    events.tell("test", done += batch.indices.size(), setup.parts.test->size());
    if (events.stop()) throw Stopped{};
  };
  try {
    return FinalTest{.metrics = evaluate(*model, setup.parts.test, options, watch),
                     .epoch = setup.state.best->epoch,
                     .top_k = settings.train.top_k,
                     .origin = setup.parts.test_origin};
  } catch (const Stopped&) {
    return std::nullopt;
  } catch (const FeedGivenUp&) {
    return std::nullopt;
  }
}

std::string to_text(const FinalTest& test) {
  const MetricsResult& found = test.metrics;
  const std::string samples =
      found.skipped == 0 ? fmt::format("{}", found.samples)
                         : fmt::format("{} of {}", found.samples, found.samples + found.skipped);
  return fmt::format("{}, {}, {} samples ({}), weights of epoch {}",
                     labelled(score_metric(found.task).name, score_metric(found.task).value(found)),
                     labelled(metric_name::kLoss, found.loss), samples, test.origin,
                     test.epoch + 1);
}

}  // namespace stoker
