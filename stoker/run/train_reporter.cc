#include "stoker/run/train_reporter.h"

#include <utility>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/atomic_file.h"
#include "stoker/core/metric_list.h"
#include "stoker/image/png.h"
#include "stoker/report/confusion_matrix.h"
#include "stoker/report/html_page.h"
#include "stoker/run/speed_verdict.h"

namespace stoker {
namespace {

// Of kMultilabel: those that suit the validation data.
std::vector<double> thresholds_of(const MetricsResult& validation) {
  std::vector<double> thresholds;
  if (validation.task != Task::kMultilabel) return thresholds;
  for (const ClassMetrics& one : validation.classes) thresholds.push_back(one.threshold);
  return thresholds;
}

// Empty where nothing is fed: features are kept.
std::string verdict_on(const EpochReport& report) {
  if (!report.feed) return "";
  return speed_verdict({.all = report.seconds,
                        .wait = report.times.wait,
                        .copy = report.times.copy,
                        .sums = report.ranks ? report.ranks->reduction.exposed : 0},
                       report.feed->stages);
}

}  // namespace

std::string score_text(const MetricsResult& result) {
  return labelled(score_metric(result.task).name, score_metric(result.task).value(result));
}

std::string epoch_label(std::uint32_t epoch, std::uint32_t epochs) {
  const std::string total = std::to_string(epochs);
  return fmt::format("epoch {:{}}/{}", epoch + 1, total.size(), total);
}

std::string pace_text(const std::optional<RankTimes>& ranks) {
  if (!ranks) return "";
  const double behind = ranks->slowest_seconds / std::max(1e-9, ranks->mean_seconds) - 1;
  return fmt::format("  {} ranks, slowest {} (+{:.0f} %)", ranks->ranks, ranks->slowest,
                     100 * std::max(0.0, behind));
}

TrainReporter::TrainReporter(RunFolder& folder, Checkpointing& checkpoints, Subject subject)
    : folder_(folder),
      checkpoints_(checkpoints),
      subject_(std::move(subject)),
      table_(folder.path() / "results.csv", results_header(subject_.top_k, subject_.card.task)) {}

// Rows are nowhere else: checkpoints hold what training needs.
void TrainReporter::resume_at(const State& state) {
  const std::uint32_t done = state.epochs_done(), missing = table_.read_rows_before(done);
  if (missing == 0) return;
  folder_.say(
      fmt::format("note       results.csv lacks {} of the {} epochs that are done: the file was "
                  "removed or changed, and its rows cannot be made again",
                  missing, done));
}

void TrainReporter::diverged(const State& state, const std::string& how) {
  folder_.say(fmt::format("diverged   step {}: {}", state.step, how));
}

void TrainReporter::epoch_done(const EpochReport& report) {
  const MetricsResult& v = report.validation;
  folder_.say(fmt::format(
      "{}  {}{}   val {}  {}{}   {:.1f} s, {:.0f} samples/s, data wait {:.1f} %{}",
      epoch_label(report.epoch, subject_.epochs), labelled(metric_name::kLoss, report.train_loss),
      v.task == Task::kClassify ? "  " + labelled(metric_name::kTop1, report.train_top1) : "",
      labelled(metric_name::kLoss, v.loss), score_text(v), report.is_best ? " *" : "  ",
      report.seconds, report.samples_per_second, 100 * report.wait_share, pace_text(report.ranks)));
  note_results(report);
  verdict_ = verdict_on(report);
  is_over_ = report.is_last;
  if (!is_over_ && saving_->is_due()) checkpoints_.write(results_writer());
  table_.add(report.epoch, results_row(report));
  tell_faults(report);
}

void TrainReporter::tell_faults(const EpochReport& report) {
  std::vector<SampleFault> all(report.faults.begin(), report.faults.end());
  all.insert(all.end(), report.validation_faults.begin(), report.validation_faults.end());
  write_faults(all);
  const std::string list = (folder_.path() / "errors.csv").string();
  if (report.faults.size() > replaced_) {
    folder_.say(fmt::format("           {} samples could not be made and were replaced; see {}",
                            report.faults.size(), list));
  }
  if (report.validation_faults.size() != skipped_) {
    const MetricsResult& v = report.validation;
    folder_.say(
        fmt::format("           validation is of {} of {} images: {} could not be read; see {}",
                    count_text(static_cast<double>(v.samples)),
                    count_text(static_cast<double>(v.samples + v.skipped)), v.skipped, list));
  }
  replaced_ = report.faults.size();
  skipped_ = report.validation_faults.size();
}

void TrainReporter::write_faults(std::span<const SampleFault> faults) const {
  if (faults.empty()) return;
  write_whole_file(folder_.path() / "errors.csv", faults_as_csv({faults.begin(), faults.end()}),
                   "list of errors");
}

// Tensors that never change are shared with the model.
std::vector<NamedTensor> TrainReporter::copy_of_weights(const Model& model) const {
  std::vector<NamedTensor> all;
  const std::vector<ModelStage> stages = model.stages();
  for (const bool buffers : {false, true}) {
    for (std::size_t i = 0; i < stages.size(); ++i) {
      for (const NamedTensor& t : buffers ? stages[i].buffers : stages[i].parameters) {
        const bool fixed = i < subject_.fixed_stages && (!buffers || subject_.fixed_norms);
        all.push_back({t.name, t.tensor.detach().to(at::kCPU, t.tensor.scalar_type(),
                                                    /*non_blocking=*/false, /*copy=*/!fixed)});
      }
    }
  }
  return all;
}

void TrainReporter::note_results(const EpochReport& report) {
  if (!unwritten_) unwritten_ = std::make_shared<Unwritten>(folder_, subject_.card);
  unwritten_->last = copy_of_weights(*report.state.model);
  unwritten_->last_thresholds = thresholds_of(report.validation);
  if (report.is_best) {
    unwritten_->best = unwritten_->last;
    unwritten_->best_thresholds = unwritten_->last_thresholds;
  }
  unwritten_->confusion = report.validation.confusion;
  unwritten_->title = fmt::format("epoch {}: {}", report.epoch + 1, score_text(report.validation));
}

TrainReporter::Unwritten::Unwritten(const RunFolder& run, const ModelCard& model_card)
    : folder(run.path()),
      last_path(run.last_weights()),
      best_path(run.best_weights()),
      card(model_card) {}

void TrainReporter::Unwritten::write() const {
  const auto save = [this](const std::filesystem::path& path, const auto& weights,
                           const auto& thresholds) {
    ModelCard with_thresholds = card;
    with_thresholds.thresholds = thresholds;
    save_model(path, with_thresholds, weights);
  };
  save(last_path, last, last_thresholds);
  if (!best.empty()) save(best_path, best, best_thresholds);
  draw_confusion();
}

void TrainReporter::Unwritten::draw_confusion() const {
  constexpr std::size_t kMostClasses = 1000;  // more would be an image that nobody can read
  if (confusion.empty() || card.class_names.size() > kMostClasses) return;
  write_png(folder / "confusion_matrix.png",
            confusion_matrix(confusion, card.class_names, {.title = title}).view());
}

std::function<void()> TrainReporter::results_writer() {
  checkpoints_.wait();  // what is written has ended, and so has its pace
  if (!unwritten_) return [] {};
  saving_->begin();
  return [results = std::exchange(unwritten_, nullptr), saving = saving_] {
    results->write();
    saving->end();
  };
}

void TrainReporter::write_results() {
  checkpoints_.write(results_writer());
  checkpoints_.wait();
}

// What a checkpoint follows from is on the disk before it.
void TrainReporter::save(const State& state) {
  checkpoints_.save(state, [results = results_writer(),
                            other = writer_before_ ? writer_before_() : std::function<void()>()] {
    results();
    if (other) other();
  });
}

void TrainReporter::state_settled(const State& state, bool epoch_ended) {
  checkpoints_.check();
  if (is_over_ || checkpoints_.is_due(state, epoch_ended)) save(state);
}

// A validation may take long, or fail.
void TrainReporter::epoch_trained(const State& state) {
  if (checkpoints_.is_due(state, /*epoch_ended=*/true)) save(state);
}

void TrainReporter::validation_failed(const State& state) {
  save(state);
  checkpoints_.wait();
}

void TrainReporter::batch_split(std::uint32_t parts) {
  folder_.say(fmt::format(
      "memory     a batch does not fit: it is computed in {} parts from now on, whose gradients "
      "make one step",
      parts));
}

}  // namespace stoker
