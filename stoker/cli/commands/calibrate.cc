// `stoker calibrate`: measures what int8 needs to know of a model, and shows what int8 costs.
#include "stoker/run/calibrate.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/long_work.h"
#include "stoker/cli/model_flags.h"
#include "stoker/core/metric_list.h"
#include "stoker/nn/model_file.h"
#include "stoker/run/weights_path.h"

namespace stoker {
namespace {

struct CalibrateFlags {
  ModelFlags model;
  std::uint64_t images = 256;
  std::string check;  // the part that shows the accuracy; empty: as `stoker eval` chooses it
};

struct Accuracy {
  MetricsResult result;
  std::string part;                   // of the data
  std::vector<std::int64_t> classes;  // of each sample, the most probable
};

Accuracy accuracy_of(const CalibrateFlags& flags, const char* precision) {
  ModelFlags wanted = flags.model;
  wanted.split = flags.check;
  wanted.engine = {.engine = "libtorch", .precision = precision};
  const ModelAndData opened = open_model_and_data(wanted);
  LongWork work(precision, opened.source->size(), "there are no figures");
  Accuracy found{.result = {}, .part = opened.part, .classes = {}};
  std::uint64_t done = 0;
  found.result =
      evaluate(opened.model(), opened.source, opened.options(), [&](const Predictions& batch) {
        const auto classes = static_cast<std::size_t>(batch.classes);
        for (std::size_t i = 0; i < batch.indices.size(); ++i) {
          const auto row = batch.probabilities.subspan(i * classes, classes);
          found.classes.push_back(std::ranges::max_element(row) - row.begin());
        }
        work.update(done += batch.indices.size() + batch.skipped.size());
      });
  work.clear();
  return found;
}

void print_accuracy(const Accuracy& exact, const Accuracy& rounded) {
  const Metric& score = score_metric(exact.result.task);
  const auto text = [&](const Accuracy& accuracy) {
    const double value = accuracy.result.score();
    return score.style == NumberStyle::kPercent ? fmt::format("{:.2f} %", 100 * value)
                                                : fmt::format("{:.4f}", value);
  };
  fmt::print("checked    {} images of {}\n", exact.result.samples, exact.part);
  fmt::print("{:<10} {} in float32, {} in int8\n", score.label, text(exact), text(rounded));
  if (exact.result.task != Task::kClassify) return;
  std::size_t same = 0;
  for (std::size_t i = 0; i < exact.classes.size(); ++i) {
    same += exact.classes[i] == rounded.classes[i] ? 1 : 0;
  }
  fmt::print("same class {} of {}\n", same, exact.classes.size());
}

void run(CalibrateFlags flags) {
  const std::string weights = weights_path(flags.model.weights);
  check_can_note(weights);
  const bool checks = flags.check != "none";
  // First, so that data which cannot show it is refused before any work.
  const Accuracy exact = checks ? accuracy_of(flags, "float32") : Accuracy{};
  flags.model.needs_labels = false;
  const ModelAndData opened = open_model_and_data(flags.model);
  const std::uint64_t images = std::min(flags.images, opened.source->size());
  LongWork work("calibrating", images, "the model file is as it was");
  const Calibration calibration = calibrate(opened.ready, opened.source, flags.images,
                                            [&](std::uint64_t done) { work.update(done); });
  work.clear();
  note_in_model(weights, calibration);
  fmt::print("{}: {} ranges for int8, from {} images of {}\n", weights, calibration.ranges.size(),
             calibration.images, opened.part);
  if (!checks) return;
  flags.model.needs_labels = true;
  print_accuracy(exact, accuracy_of(flags, "int8"));
}

}  // namespace

void add_calibrate_command(const Command& parent) {
  const Command command =
      parent.add_command("calibrate", "Prepare a model file for int8, and show what int8 costs");
  auto flags = std::make_shared<CalibrateFlags>();
  flags->model.split = "train";
  flags->model.add_data_to(command);
  command.add_option("--images", flags->images, "how many are measured").between(1, 1 << 24);
  std::vector<std::string> parts = split_names();
  parts.emplace_back("none");
  command
      .add_option(
          "--check", flags->check,
          "part of the data that shows the accuracy in float32 and int8; not given: test, else "
          "val, else all; none: not shown")
      .one_of(parts);
  command.on_run([flags] { run(*flags); });
}

}  // namespace stoker
