// What a person sees of a training run, and what stays of it: the progress bar, a line an epoch,
// results.csv, weights/{best,last}.safetensors, the confusion matrix, and checkpoints.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stoker/cli/progress.h"
#include "stoker/cli/run_folder.h"
#include "stoker/nn/model_file.h"
#include "stoker/train/checkpointing.h"
#include "stoker/train/observer.h"

namespace stoker {

class TrainReporter final : public Observer {
 public:
  struct Subject {
    std::uint32_t epochs = 0;
    std::int64_t top_k = 5;
    std::vector<std::string> class_names;
    Preprocessing preprocessing;
  };
  // Folder and checkpoints must outlive it.
  TrainReporter(RunFolder& folder, Checkpointing& checkpoints, Subject subject);

  // For a run that goes on: the epochs before are in the table already.
  void resume_at(const Cursor& cursor) { table_.read_rows_before(cursor.epoch); }

  void step_done(const StepReport& report) override;
  void features_done(std::uint64_t done, std::uint64_t total) override;
  void epoch_done(const EpochReport& report) override;
  void state_settled(const State& state, bool epoch_ended) override;

  // errors.csv, where samples were replaced.
  void write_faults(std::span<const SampleFault> faults) const;

 private:
  void save_weights(const EpochReport& report) const;
  void draw_confusion(const EpochReport& report) const;

  RunFolder& folder_;
  Checkpointing& checkpoints_;
  Subject subject_;
  ResultsTable table_;
  std::unique_ptr<Progress> progress_;
  std::size_t replaced_ = 0;  // faults that were told
};

}  // namespace stoker
