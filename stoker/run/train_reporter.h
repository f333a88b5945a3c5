// What stays of a training run: a line an epoch, results.csv, weights/{best,last}.safetensors, the
// confusion matrix, and checkpoints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/nn/model_file.h"
#include "stoker/run/run_folder.h"
#include "stoker/train/checkpointing.h"
#include "stoker/train/observer.h"

namespace stoker {

// "epoch  3/15"
[[nodiscard]] std::string epoch_label(std::uint32_t epoch, std::uint32_t epochs);
// "  4 ranks, slowest 2 (+13 %)"; empty for one process.
[[nodiscard]] std::string pace_text(const std::optional<RankTimes>& ranks);

// "top-1 97.85 %", or the score of another task.
[[nodiscard]] std::string score_text(const MetricsResult& result);

class TrainReporter final : public Observer {
 public:
  struct Subject {
    std::uint32_t epochs = 0;
    std::int64_t top_k = 5;
    ModelCard card;                // of the weights
    std::size_t fixed_stages = 0;  // that never learn
    bool fixed_norms = true;       // whose running statistics never change either
  };
  // Folder and checkpoints must outlive it.
  TrainReporter(RunFolder& folder, Checkpointing& checkpoints, Subject subject);

  // For a run that is resumed: the epochs before are in the table already.
  void resume_at(const State& state) { table_.read_rows_before(state.epochs_done()); }

  void batch_split(std::uint32_t parts) override;
  void diverged(const State& state, const std::string& how) override;
  void epoch_trained(const State& state) override;
  void validation_failed(const State& state) override;
  void epoch_done(const EpochReport& report) override;
  void state_settled(const State& state, bool epoch_ended) override;

  // errors.csv, where samples were replaced or skipped.
  void write_faults(std::span<const SampleFault> faults) const;

  // Weights and images of the last epoch and the best one, where they are not written yet.
  void write_results();

 private:
  // Of an epoch that is over: what is written now or, where epochs are short, with a later one.
  struct Unwritten {
    std::vector<NamedTensor> last, best;  // best is empty where an earlier epoch was better
    std::vector<double> last_thresholds, best_thresholds;
    std::vector<std::int64_t> confusion;
    std::string title;  // of its image
  };
  void note_results(const EpochReport& report);
  void save(const State& state);
  void tell_faults(const EpochReport& report);
  [[nodiscard]] std::vector<NamedTensor> copy_of_weights(const Model& model) const;
  void draw_confusion() const;

  RunFolder& folder_;
  Checkpointing& checkpoints_;
  Subject subject_;
  ResultsTable table_;
  std::size_t replaced_ = 0, skipped_ = 0;  // faults that were told
  std::optional<Unwritten> unwritten_;
  Pace saving_{kSavingShare};
  bool is_over_ = false;
};

}  // namespace stoker
