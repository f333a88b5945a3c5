#include "stoker/run/run_recorder.h"

#include <algorithm>
#include <charconv>
#include <fstream>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/atomic_file.h"
#include "stoker/core/error.h"
#include "stoker/core/metric_list.h"
#include "stoker/image/png.h"
#include "stoker/report/confusion_matrix.h"
#include "stoker/run/append_to_file.h"
#include "stoker/run/json_text.h"
#include "stoker/train/evaluate.h"

namespace stoker {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTimingHeader =
    "epoch,seconds,wait,copy,forward,backward,step,val_seconds,samples_per_second,features_seconds";
constexpr const char* kRanksHeader =
    "epoch,ranks,slowest,slowest_seconds,mean_seconds,reduced_bytes,reduction_seconds,"
    "exposed_seconds";
constexpr const char* kStepsHeader = "step,epoch,lr,loss";
// Rows of steps.csv: this many in all, at least one and at most this many an epoch.
constexpr std::uint64_t kMostSteps = 2000, kMostStepsOfEpoch = 64;

std::string timing_row(const EpochReport& r) {
  const StepTimes& t = r.times;
  return fmt::format("{},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.1f},{:.3f}",
                     r.epoch + 1, r.seconds, t.wait, t.copy, t.forward, t.backward, t.step,
                     r.validation_seconds, r.samples_per_second, r.features_seconds);
}

std::string ranks_row(std::uint32_t epoch, const RankTimes& t) {
  return fmt::format("{},{},{},{:.3f},{:.3f},{},{:.3f},{:.3f}", epoch + 1, t.ranks, t.slowest,
                     t.slowest_seconds, t.mean_seconds, t.reduction.bytes, t.reduction.seconds,
                     t.reduction.exposed);
}

std::vector<double> thresholds_in(const MetricsResult& result) {
  std::vector<double> thresholds;
  for (const ClassMetrics& one : result.classes) thresholds.push_back(one.threshold);
  return thresholds;
}

}  // namespace

RunRecorder::RunRecorder(const RunFolder& folder, const RecordOptions& options,
                         std::uint32_t epochs, const State& state, ModelCard card)
    : folder_(folder),
      options_(options),
      card_(std::move(card)),
      rows_per_epoch_(
          std::clamp<std::uint64_t>(kMostSteps / std::max(1U, epochs), 1, kMostStepsOfEpoch)),
      timing_(folder.path() / "timing.csv", kTimingHeader),
      ranks_(folder.path() / "ranks.csv", kRanksHeader),
      steps_(folder.path() / "steps.csv",
             fmt::format("{}{}", kStepsHeader, card_.task == Task::kClassify ? ",top1" : ""),
             state.step),
      before_{.loss = state.sums.loss.item<double>(),
              .right = state.sums.right.item<std::int64_t>(),
              .samples = state.sums.samples},
      facts_(folder.path() / "run.json") {
  timing_.read_rows_before(state.epochs_done());
  ranks_.read_rows_before(state.epochs_done());
  if (options.tensorboard) {
    events_ = std::make_unique<EventFile>(folder.path(), static_cast<std::int64_t>(state.step));
  }
}

RunRecorder::~RunRecorder() = default;

void RunRecorder::note(const Json& facts) {
  for (const auto& [key, value] : facts.items()) facts_[key.c_str()] = value;
  facts_["state"] = "running";
  if (facts_["started"].is_null()) facts_["started"] = utc_time();
  facts_.save();
}

void RunRecorder::note_settings(const std::string& yaml) {
  if (!events_) return;
  std::string markdown;  // four spaces are a block of code
  for (std::size_t at = 0; at < yaml.size();) {
    const std::size_t end = std::min(yaml.find('\n', at), yaml.size());
    markdown += "    " + yaml.substr(at, end - at) + "\n";
    at = end + 1;
  }
  events_->add_text("settings", 0, markdown);
}

void RunRecorder::note_saving(const Checkpointing::Times& times) {
  facts_["saving"] = {{"checkpoints", times.checkpoints}, {"waited_seconds", times.waited_seconds}};
}

void RunRecorder::note_test(const FinalTest& test, std::uint64_t step) {
  const MetricsResult& m = test.metrics;
  Json json = {{"data", test.origin},
               {"weights", "best"},
               {"epoch", test.epoch + 1},
               {"samples", m.samples},
               {"skipped", m.skipped}};
  for (const auto& [name, value] : metric_values(m, test.top_k, &MetricPlaces::test)) {
    json[name] = json_number(value);
  }
  facts_["test"] = json;
  facts_.save();
  if (events_) {
    for (const auto& [tag, value] : test_tags(m)) {
      events_->add_scalar(tag, static_cast<std::int64_t>(step), value);
    }
  }
  Json line = {{"event", "test"}};
  line.update(json);
  write_line(line);
}

void RunRecorder::note_end(const std::string& how, const State& result) {
  facts_["state"] = how;
  facts_["ended"] = utc_time();
  facts_["steps"] = result.step;
  facts_["samples_digest"] = fmt::format("{:016x}", result.samples_digest);
  if (result.best) {
    facts_["best"] = {{"epoch", result.best->epoch + 1},
                      {score_metric(card_.task).name, json_number(result.best->score)}};
  }
  facts_["weights"] = {{"best", file_digest(folder_.best_weights())},
                       {"last", file_digest(folder_.last_weights())}};
  facts_.save();
}

void RunRecorder::step_done(const StepReport& report) {
  const auto part = [&](std::uint64_t samples) {
    return samples * rows_per_epoch_ / std::max<std::uint64_t>(1, report.samples_total);
  };
  if (part(report.samples_done) == part(before_.samples)) return;
  const EpochSums& sums = report.state.sums;
  const Totals now{.loss = sums.loss.item<double>(),
                   .right = sums.right.item<std::int64_t>(),
                   .samples = sums.samples};
  const auto samples = static_cast<double>(now.samples - before_.samples);
  const double loss = (now.loss - before_.loss) / samples;
  const double top1 = static_cast<double>(now.right - before_.right) / samples;
  before_ = now;
  const bool has_top1 = card_.task == Task::kClassify;
  steps_.add(fmt::format("{},{},{},{:.6f}{}", report.state.step, report.epoch + 1, report.rate,
                         loss, has_top1 ? fmt::format(",{:.6f}", top1) : ""));
  const auto step = static_cast<std::int64_t>(report.state.step);
  if (events_) {
    events_->add_scalar("step/loss", step, loss);
    if (has_top1) events_->add_scalar("step/top1", step, top1);
    events_->add_scalar("step/lr", step, report.rate);
  }
  Json line = {{"event", "step"},
               {"step", report.state.step},
               {"epoch", report.epoch + 1},
               {"lr", report.rate},
               {"loss", json_number(loss)}};
  if (has_top1) line["top1"] = top1;
  write_line(line);
}

void RunRecorder::diverged(const State& state, const std::string& how) {
  facts_["diverged"] = fmt::format("step {}: {}", state.step, how);
  facts_.save();
}

void RunRecorder::note_targets(const Predictions& predictions) {
  const auto outputs = static_cast<std::size_t>(predictions.classes);
  const auto& indices = predictions.indices;
  if (!indices.empty() && indices.front() < target_table_.size()) target_table_ = {};
  for (std::size_t i = 0; i < indices.size(); ++i) {
    while (target_table_.size() < indices[i]) target_table_.add_skipped(outputs);
    target_table_.add(predictions.targets.subspan(i * outputs, outputs),
                      predictions.probabilities.subspan(i * outputs, outputs),
                      predictions.losses[i]);
  }
}

void RunRecorder::predicted(const Predictions& predictions) {
  if (card_.task != Task::kClassify) {
    note_targets(predictions);
    return;
  }
  const auto classes = static_cast<std::size_t>(predictions.classes);
  const auto& indices = predictions.indices;
  if (!indices.empty() && indices.front() < predictions_.size()) predictions_ = {};
  for (std::size_t i = 0; i < indices.size(); ++i) {
    while (predictions_.size() < indices[i]) predictions_.add_skipped();
    predictions_.add(predictions.labels[i], predictions.probabilities.subspan(i * classes, classes),
                     predictions.losses[i]);
  }
}

void RunRecorder::epoch_done(const EpochReport& report) {
  before_ = {};
  timing_.add(report.epoch, timing_row(report));
  if (report.ranks) ranks_.add(report.epoch, ranks_row(report.epoch, *report.ranks));
  steps_.write();
  predictions_.epoch = target_table_.epoch = report.epoch;
  if (card_.task == Task::kClassify) {
    write_predictions(folder_.path() / "predictions.safetensors", predictions_);
  } else {
    target_table_.thresholds = thresholds_in(report.validation);
    write_target_table(folder_.path() / "predictions.safetensors", target_table_);
  }
  note_feed(report);
  if (events_) write_events(report);
  Json line = {{"event", "epoch"}, {"epoch", report.epoch + 1}, {"step", report.state.step}};
  for (const auto& [tag, value] : epoch_tags(report)) line[tag] = json_number(value);
  line["val_samples"] = report.validation.samples;
  line["val_skipped"] = report.validation.skipped;
  write_line(line);
}

// Of tasks whose table of predictions does not say it.
void RunRecorder::note_outputs(const MetricsResult& validation) {
  if (validation.task == Task::kClassify) return;
  Json list = Json::array();
  for (const TargetMetrics& one : validation.targets) {
    list.push_back({{"mae", json_number(one.mae)},
                    {"rmse", json_number(one.rmse)},
                    {"r2", json_number(one.r2)}});
  }
  for (std::size_t i = 0; validation.task == Task::kMultilabel && i < validation.classes.size();
       ++i) {
    const ClassMetrics& one = validation.classes[i];
    list.push_back({{"support", one.support},
                    {"average_precision", json_number(one.average_precision)},
                    {"threshold", json_number(one.threshold)},
                    {"precision", json_number(one.precision)},
                    {"recall", json_number(one.recall)},
                    {"f1", json_number(one.f1)}});
  }
  facts_["outputs"] = std::move(list);
}

void RunRecorder::note_feed(const EpochReport& report) {
  facts_["epochs_done"] = report.epoch + 1;
  facts_["validated"] = {{"samples", report.validation.samples},
                         {"skipped", report.validation.skipped}};
  note_outputs(report.validation);
  const auto& kept = facts_["features_seconds"];
  const double before = kept.is_number() ? kept.get<double>() : 0;
  if (report.features_seconds > 0) facts_["features_seconds"] = before + report.features_seconds;
  if (report.feed) {
    const StageShares& stages = report.feed->stages;
    facts_["feed"] = {{"wait_share", report.feed->wait_share},
                      {"store", stages.store},
                      {"read", stages.read},
                      {"augment", stages.augment},
                      {"write", stages.write},
                      {"blocked", stages.blocked},
                      {"ring_batches", report.feed->ring_batches},
                      {"ring_fill", report.feed->ring_fill}};
  }
  facts_.save();
}

void RunRecorder::write_events(const EpochReport& report) {
  const auto step = static_cast<std::int64_t>(report.state.step);
  for (const auto& [tag, value] : epoch_tags(report)) events_->add_scalar(tag, step, value);
  constexpr std::size_t kMostClasses = 100;  // an image for every epoch
  if (!report.validation.confusion.empty() && card_.class_names.size() <= kMostClasses) {
    const Image image = confusion_matrix(report.validation.confusion, card_.class_names, {});
    const std::vector<std::byte> png = encode_png(image.view());
    const ImageShape& shape = image.shape();
    events_->add_image(
        "confusion_matrix", step,
        {.height = shape.height, .width = shape.width, .channels = shape.channels, .png = png});
  }
  if (!options_.histograms) return;
  for (const NamedTensor& named : report.state.model->parameters()) {
    const at::Tensor values = named.tensor.detach().to(at::kCPU, at::kFloat).contiguous();
    events_->add_histogram(
        "weights/" + named.name, step,
        histogram_of({values.const_data_ptr<float>(), static_cast<std::size_t>(values.numel())}));
  }
}

void RunRecorder::write_line(const Json& line) const {
  if (!options_.json_lines) return;
  append_to_file(folder_.path() / "log.jsonl", json_text(line) + "\n");
}

}  // namespace stoker
