#include "stoker/run/metrics_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <ATen/ATen.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <fmt/format.h>

#include "stoker/core/atomic_file.h"

namespace stoker {
namespace {

constexpr auto kInterval = std::chrono::seconds(5);

struct Gauge {
  const char *name, *help;
};
constexpr std::array kGauges = {
    Gauge{"stoker_accuracy", "Top-1 accuracy on the training samples of this epoch, 0 to 1"},
    Gauge{"stoker_data_wait_ratio", "Fraction of the epoch's time spent waiting for data"},
    Gauge{"stoker_epoch", "Current epoch, counted from 1"},
    Gauge{"stoker_epochs", "Number of epochs of the run"},
    Gauge{"stoker_gpu_memory_bytes", "Memory of the GPU that tensors occupy"},
    Gauge{"stoker_learning_rate", "Learning rate of the last step"},
    Gauge{"stoker_loss", "Mean loss on the training samples of this epoch"},
    Gauge{"stoker_samples_per_second", "Training samples per second in this epoch"},
    Gauge{"stoker_step", "Steps of the optimiser since the run began"},
    Gauge{"stoker_validation_accuracy", "Top-1 accuracy of the last validation, 0 to 1"},
    Gauge{"stoker_validation_score", "Mean average precision or R² of the last validation"},
    Gauge{"stoker_validation_loss", "Loss of the last validation"},
};

std::string prometheus_label(const std::string& value) {
  std::string text;
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c == '\n' ? ' ' : c;
  }
  return text;
}

std::string prometheus_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

}  // namespace

MetricsFile::MetricsFile(std::filesystem::path path, std::string run, Task task)
    : path_(std::move(path)), run_(std::move(run)), task_(task) {}

void MetricsFile::step_done(const StepReport& report) {
  const auto now = std::chrono::steady_clock::now();
  if (now - written_ < kInterval) return;
  written_ = now;
  const auto samples = static_cast<double>(std::max<std::uint64_t>(1, report.samples_done));
  const auto right = static_cast<double>(report.state.sums.right.item<std::int64_t>());
  if (task_ == Task::kClassify) values_["stoker_accuracy"] = right / samples;
  values_["stoker_data_wait_ratio"] = report.wait_share;
  values_["stoker_epoch"] = report.epoch + 1;
  values_["stoker_epochs"] = report.epochs;
  values_["stoker_learning_rate"] = report.rate;
  values_["stoker_loss"] = report.state.sums.loss.item<double>() / samples;
  values_["stoker_samples_per_second"] =
      report.seconds > 0 ? static_cast<double>(report.samples_done) / report.seconds : 0;
  values_["stoker_step"] = static_cast<double>(report.state.step);
  note_device(report.state);
  write();
}

void MetricsFile::epoch_done(const EpochReport& report) {
  if (task_ == Task::kClassify) values_["stoker_accuracy"] = report.train_top1;
  values_["stoker_data_wait_ratio"] = report.wait_share;
  values_["stoker_epoch"] = report.epoch + 1;
  values_["stoker_learning_rate"] = report.rate;
  values_["stoker_loss"] = report.train_loss;
  values_["stoker_samples_per_second"] = report.samples_per_second;
  values_["stoker_step"] = static_cast<double>(report.step);
  if (task_ == Task::kClassify) {
    values_["stoker_validation_accuracy"] = report.validation.top1;
  } else {
    values_["stoker_validation_score"] = report.validation.score();
  }
  values_["stoker_validation_loss"] = report.validation.loss;
  note_device(report.state);
  write();
}

void MetricsFile::note_device(const State& state) {
  const c10::Device device = state.model->device();
  if (device.is_cpu()) return;
  const auto stats = c10::getDeviceAllocator(device.type())->getDeviceStats(device.index());
  constexpr std::size_t kAll = 0;  // the first of the statistics counts all pools
  values_["stoker_gpu_memory_bytes"] = static_cast<double>(stats.allocated_bytes[kAll].current);
}

void MetricsFile::write() {
  std::string text;
  for (const Gauge& gauge : kGauges) {
    const auto value = values_.find(gauge.name);
    if (value == values_.end()) continue;
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n{0}{{run=\"{2}\"}} {3}\n", gauge.name,
                        gauge.help, prometheus_label(run_), prometheus_number(value->second));
  }
  write_whole_file(path_, text, "metrics");
}

}  // namespace stoker
