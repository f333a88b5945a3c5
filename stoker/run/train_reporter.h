// What stays of a training run: a line an epoch, results.csv, weights/{best,last}.safetensors, the
// confusion matrix, and checkpoints.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
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

  // For a run that is resumed: the epochs before are in the table already. Says so where they are
  // not.
  void resume_at(const State& state);

  void batch_split(std::uint32_t parts) override;
  void diverged(const State& state, const std::string& how) override;
  void epoch_trained(const State& state) override;
  void validation_failed(const State& state) override;
  void epoch_done(const EpochReport& report) override;
  void state_settled(const State& state, bool epoch_ended) override;

  // errors.csv, where samples were replaced or skipped.
  void write_faults(std::span<const SampleFault> faults) const;

  // What limited the speed of the epoch that ended last; empty before the first.
  [[nodiscard]] const std::string& verdict() const noexcept { return verdict_; }

  // What else must be on the disk before a checkpoint is.
  void write_before_checkpoints(std::function<std::function<void()>()> writer) {
    writer_before_ = std::move(writer);
  }
  // A checkpoint, and what it follows from. Perhaps in the background: see Checkpointing::wait().
  void save(const State& state);
  // Weights and images of the last epoch and the best one, where they are not written yet. Waits.
  void write_results();

 private:
  // Of an epoch that is over: what is written now or, where epochs are short, with a later one. It
  // is written in the background, so it has all that it needs.
  struct Unwritten {
    Unwritten(const RunFolder& folder, const ModelCard& card);
    void write() const;
    void draw_confusion() const;

    std::filesystem::path folder, last_path, best_path;
    ModelCard card;
    std::vector<NamedTensor> last, best;  // best is empty where an earlier epoch was better
    std::vector<double> last_thresholds, best_thresholds;
    std::vector<std::int64_t> confusion;
    std::string title;  // of its image
  };
  void note_results(const EpochReport& report);
  [[nodiscard]] std::function<void()> results_writer();
  void tell_faults(const EpochReport& report);
  [[nodiscard]] std::vector<NamedTensor> copy_of_weights(const Model& model) const;

  RunFolder& folder_;
  Checkpointing& checkpoints_;
  Subject subject_;
  ResultsTable table_;
  std::size_t replaced_ = 0, skipped_ = 0;  // faults that were told
  std::shared_ptr<Unwritten> unwritten_;    // or null
  std::shared_ptr<Pace> saving_ = std::make_shared<Pace>(kSavingShare);
  std::function<std::function<void()>()> writer_before_;
  std::string verdict_;
  bool is_over_ = false;
};

}  // namespace stoker
