// Keeps what a report of a run needs beside results.csv, as files in the run's folder:
//   timing.csv               a row an epoch: where the seconds went
//   ranks.csv                with several ranks, a row an epoch: who was slow, what sums cost
//   steps.csv                some rows an epoch: loss, accuracy and rate in the course of it
//   predictions.safetensors  of the last validation
//   run.json                 what, where, how far (run_facts.h)
// and, on request, TensorBoard's event files and log.jsonl. Lives beside TrainReporter: observers
// of one run hear the same.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "stoker/io/event_file.h"
#include "stoker/nn/model_file.h"
#include "stoker/run/final_test.h"
#include "stoker/run/prediction_file.h"
#include "stoker/run/record_options.h"
#include "stoker/run/run_facts.h"
#include "stoker/run/run_folder.h"
#include "stoker/run/steps_file.h"
#include "stoker/run/target_table.h"
#include "stoker/train/checkpointing.h"
#include "stoker/train/observer.h"

namespace stoker {

class RunRecorder final : public Observer {
 public:
  // The state says where the run stands; rows of what comes later are forgotten. The folder must
  // outlive it.
  RunRecorder(const RunFolder& folder, const RecordOptions& options, std::uint32_t epochs,
              const State& state, ModelCard card);
  ~RunRecorder() override;

  // What is known from the start; saved at once.
  void note(const nlohmann::ordered_json& facts);
  // The text of the settings, for TensorBoard.
  void note_settings(const std::string& yaml);
  // How long training waited for checkpoints; before note_end().
  void note_saving(const Checkpointing::Times& times);
  // Of the run's end, before note_end().
  void note_test(const FinalTest& test, std::uint64_t step);
  // "finished", "ended early", "stopped", "diverged"; with the digests of the weights.
  void note_end(const std::string& state, const State& result);

  // Writes the rows of steps so far, on any thread: to be called before a checkpoint is written,
  // since a resumed run takes them from the file.
  [[nodiscard]] std::function<void()> writer_of_steps() const { return steps_.writer(); }

  void step_done(const StepReport& report) override;
  void diverged(const State& state, const std::string& how) override;
  void predicted(const Predictions& predictions) override;
  void epoch_done(const EpochReport& report) override;

 private:
  struct Totals {  // of the epoch under way, at the row written last
    double loss = 0;
    std::int64_t right = 0;
    std::uint64_t samples = 0;
  };
  void note_feed(const EpochReport& report);
  void note_outputs(const MetricsResult& validation);
  void note_targets(const Predictions& predictions);
  void write_events(const EpochReport& report);
  void write_line(const nlohmann::ordered_json& line) const;

  const RunFolder& folder_;
  RecordOptions options_;
  ModelCard card_;
  std::uint64_t rows_per_epoch_;
  ResultsTable timing_, ranks_;
  StepsFile steps_;
  Totals before_;
  PredictionTable predictions_;  // of a classifier
  TargetTable target_table_;     // of other tasks
  RunFacts facts_;
  std::unique_ptr<EventFile> events_;
};

// Tells several observers the same, in their order; they must outlive it.
class Observers final : public Observer {
 public:
  explicit Observers(std::vector<Observer*> list) : list_(std::move(list)) {}
  void features_done(std::uint64_t done, std::uint64_t total) override {
    for (Observer* one : list_) one->features_done(done, total);
  }
  void batch_split(std::uint32_t parts) override {
    for (Observer* one : list_) one->batch_split(parts);
  }
  void step_done(const StepReport& report) override {
    for (Observer* one : list_) one->step_done(report);
  }
  void diverged(const State& state, const std::string& how) override {
    for (Observer* one : list_) one->diverged(state, how);
  }
  void epoch_trained(const State& state) override {
    for (Observer* one : list_) one->epoch_trained(state);
  }
  void validation_failed(const State& state) override {
    for (Observer* one : list_) one->validation_failed(state);
  }
  void predicted(const Predictions& predictions) override {
    for (Observer* one : list_) one->predicted(predictions);
  }
  void epoch_done(const EpochReport& report) override {
    for (Observer* one : list_) one->epoch_done(report);
  }
  void state_settled(const State& state, bool epoch_ended) override {
    for (Observer* one : list_) one->state_settled(state, epoch_ended);
  }

 private:
  std::vector<Observer*> list_;
};

}  // namespace stoker
