// The public functions of stoker/train.h.
#include "stoker/train.h"

#include "stoker/run/train_run.h"

namespace stoker {
namespace {

class EpochTeller final : public Observer {
 public:
  explicit EpochTeller(const TrainEvents& events) : events_(events) {}
  void epoch_done(const EpochReport& report) override {
    if (!events_.epoch) return;
    events_.epoch({.epoch = report.epoch,
                   .train_loss = report.train_loss,
                   .train_top1 = report.train_top1,
                   .validation_loss = report.validation.loss,
                   .validation_top1 = report.validation.top1,
                   .validation_score = report.validation.score(),
                   .is_best = report.is_best,
                   .seconds = report.seconds,
                   .samples_per_second = report.samples_per_second});
  }

 private:
  const TrainEvents& events_;
};

TrainEnd public_end(RunEnd end) {
  switch (end) {
    case RunEnd::kNoProgress:
      return TrainEnd::kNoProgress;
    case RunEnd::kStopped:
      return TrainEnd::kStopped;
    case RunEnd::kDiverged:
      return TrainEnd::kDiverged;
    case RunEnd::kAllEpochs:
      break;
  }
  return TrainEnd::kAllEpochs;
}

}  // namespace

TrainResult train(const RunSettings& settings, const TrainEvents& events) {
  EpochTeller teller(events);
  const RunResult result = train_run(
      settings, {.line = events.line, .should_stop = events.should_stop, .observers = {&teller}});
  return {.end = public_end(result.end),
          .folder = result.folder,
          .steps = result.steps,
          .test_top1 = result.test ? std::optional(result.test->metrics.top1) : std::nullopt,
          .test_score = result.test ? std::optional(result.test->metrics.score()) : std::nullopt,
          .divergence = result.divergence};
}

}  // namespace stoker
