#include "stoker/cli/train_reporter.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/atomic_file.h"
#include "stoker/image/png.h"
#include "stoker/report/confusion_matrix.h"

namespace stoker {
namespace {

std::string header(std::int64_t top_k) {
  return fmt::format(
      "epoch,step,lr,train_loss,train_top1,val_loss,val_top1,val_top{},val_macro_f1,val_ece,"
      "seconds,"
      "val_seconds,samples_per_second,wait_share",
      top_k);
}

std::string row(const EpochReport& r) {
  const MetricsResult& v = r.validation;
  return fmt::format(
      "{},{},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{:.3f},{:.3f},{:.0f},{:.4f}",
      r.epoch + 1, r.state.step, r.rate, r.train_loss, r.train_top1, v.loss, v.top1, v.top_k,
      v.macro_f1, v.calibration_error, r.seconds, r.validation_seconds, r.samples_per_second,
      r.wait_share);
}

std::string epoch_label(std::uint32_t epoch, std::uint32_t epochs) {
  const std::string total = std::to_string(epochs);
  return fmt::format("epoch {:{}}/{}", epoch + 1, total.size(), total);
}

std::string details(const StepReport& report) {
  const auto samples = static_cast<double>(std::max<std::uint64_t>(1, report.samples_done));
  return fmt::format(
      "loss {:.4f}  top-1 {:.2f} %  waited {:.1f} %",
      report.state.sums.loss.item<double>() / samples,
      100 * static_cast<double>(report.state.sums.right.item<std::int64_t>()) / samples,
      100 * report.wait_share);
}

}  // namespace

TrainReporter::TrainReporter(RunFolder& folder, Checkpointing& checkpoints, Subject subject)
    : folder_(folder),
      checkpoints_(checkpoints),
      subject_(std::move(subject)),
      table_(folder.path() / "results.csv", header(subject_.top_k)) {}

void TrainReporter::step_done(const StepReport& report) {
  if (!progress_) {
    progress_ = std::make_unique<Progress>(epoch_label(report.epoch, subject_.epochs),
                                           report.samples_total);
  }
  progress_->update(report.samples_done, [&] { return details(report); });
}

void TrainReporter::features_done(std::uint64_t done, std::uint64_t total) {
  if (!progress_) progress_ = std::make_unique<Progress>("features", total);
  progress_->update(done);
  if (done < total) return;
  progress_->clear();
  progress_.reset();
}

void TrainReporter::epoch_done(const EpochReport& report) {
  progress_->clear();
  progress_.reset();
  const MetricsResult& v = report.validation;
  folder_.say(fmt::format(
      "{}  loss {:.4f}  top-1 {:.2f} %   val loss {:.4f}  top-1 {:.2f} %{}   {:.1f} s, {:.0f} "
      "samples/s, waited {:.1f} %",
      epoch_label(report.epoch, subject_.epochs), report.train_loss, 100 * report.train_top1,
      v.loss, 100 * v.top1, report.is_best ? " *" : "  ", report.seconds, report.samples_per_second,
      100 * report.wait_share));
  save_weights(report);
  table_.add(report.epoch, row(report));
  draw_confusion(report);
  write_faults(report.faults);
  if (report.faults.size() == replaced_) return;
  replaced_ = report.faults.size();
  folder_.say(fmt::format("           {} samples could not be made and were replaced; see {}",
                          replaced_, (folder_.path() / "errors.csv").string()));
}

void TrainReporter::write_faults(std::span<const SampleFault> faults) const {
  if (faults.empty()) return;
  write_whole_file(folder_.path() / "errors.csv", faults_as_csv({faults.begin(), faults.end()}),
                   "list of errors");
}

void TrainReporter::save_weights(const EpochReport& report) const {
  const Model& model = *report.state.model;
  save_model(folder_.last_weights(), model, subject_.class_names, subject_.preprocessing);
  if (report.is_best) {
    save_model(folder_.best_weights(), model, subject_.class_names, subject_.preprocessing);
  }
}

void TrainReporter::draw_confusion(const EpochReport& report) const {
  constexpr std::size_t kMostClasses = 1000;  // more would be a picture that nobody can read
  if (report.validation.confusion.empty() || subject_.class_names.size() > kMostClasses) return;
  const std::string title =
      fmt::format("epoch {}: {:.2f} % right", report.epoch + 1, 100 * report.validation.top1);
  write_png(
      folder_.path() / "confusion_matrix.png",
      confusion_matrix(report.validation.confusion, subject_.class_names, {.title = title}).view());
}

void TrainReporter::state_settled(const State& state, bool epoch_ended) {
  checkpoints_.after_step(state, epoch_ended);
}

}  // namespace stoker
