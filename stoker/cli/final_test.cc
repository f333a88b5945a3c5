#include "stoker/cli/final_test.h"

#include <fmt/format.h>

#include "stoker/cli/progress.h"
#include "stoker/nn/model_file.h"
#include "stoker/train/evaluate.h"

namespace stoker {

bool can_test(const TrainSetup& setup) {
  return setup.parts.test != nullptr && setup.state.best.has_value();
}

FinalTest run_final_test(const RunFolder& folder, const TrainFlags& flags, const TrainSetup& setup,
                         const std::function<void()>& proceed) {
  const Model& trained = *setup.state.model;
  // Of a run that may diverge and continue, weights may be no numbers: its figures say so.
  const auto model = load_model(folder.best_weights(), /*allow_nonfinite=*/true).model;
  model->to(trained.device());
  model->compute_in(trained.precision());
  Progress progress("test", setup.parts.test->size());
  std::uint64_t done = 0;
  const MetricsResult result =
      evaluate(*model, setup.parts.test, validation_options(setup.data, flags.train),
               [&](const Predictions& batch) {
                 progress.update(done += batch.labels.size());
                 proceed();
               });
  progress.clear();
  return {.metrics = result,
          .epoch = setup.state.best->epoch,
          .top_k = flags.train.top_k,
          .origin = setup.parts.test_origin};
}

std::string to_text(const FinalTest& test) {
  const MetricsResult& found = test.metrics;
  const std::string samples =
      found.skipped == 0 ? fmt::format("{}", found.samples)
                         : fmt::format("{} of {}", found.samples, found.samples + found.skipped);
  return fmt::format("top-1 {:.2f} %, loss {:.4f}, {} samples ({}), weights of epoch {}",
                     100 * found.top1, found.loss, samples, test.origin, test.epoch + 1);
}

}  // namespace stoker
