#include "stoker/cli/run_screen.h"

#include <algorithm>
#include <cstdio>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/cli/option_text.h"
#include "stoker/cli/screen_text.h"
#include "stoker/run/train_reporter.h"

namespace stoker {
namespace {

std::string details(const StepReport& report) {
  const auto samples = static_cast<double>(std::max<std::uint64_t>(1, report.samples_done));
  std::string accuracy;  // other tasks are measured at the end of an epoch
  if (report.task == Task::kClassify) {
    const auto right = static_cast<double>(report.state.sums.right.item<std::int64_t>());
    accuracy = fmt::format("top-1 {:.2f} %  ", 100 * right / samples);
  }
  return fmt::format("loss {:.4f}  {}data wait {:.1f} %{}",
                     report.state.sums.loss.item<double>() / samples, accuracy,
                     100 * report.wait_share, pace_text(report.ranks));
}

}  // namespace

RunEvents RunScreen::events(const StopSignals& signals, TimelyEnd& before_run) {
  return {.line = [this](const std::string& line) { show_line(line); },
          .trying = [](const std::string& note) { show(stderr, with_flags(note) + "\n"); },
          .wording = [](const std::string& text) { return with_flags(text); },
          .progress = [this](const std::string& work, std::uint64_t done,
                             std::uint64_t total) { show_progress(work, done, total); },
          .stalled =
              [](const std::string& sample, double seconds) {
                show(stderr, fmt::format("\na worker has been busy with {} for {:.0f} s\n", sample,
                                         seconds));
              },
          .should_stop =
              [&signals, &before_run] {
                before_run.cancel();
                return signals.received() != 0;
              },
          .why_stopped = [&signals] { return fmt::format("signal {}", signals.received()); },
          .observers = {this}};
}

void RunScreen::step_done(const StepReport& report) {
  if (!progress_) {
    progress_ =
        std::make_unique<Progress>(epoch_label(report.epoch, report.epochs), report.samples_total);
  }
  progress_->update(report.samples_done, [&] { return details(report); });
}

void RunScreen::features_done(std::uint64_t done, std::uint64_t total) {
  show_progress("features", done, total);
}

void RunScreen::validation_failed(const State& /*state*/) { clear(); }

void RunScreen::show_line(const std::string& line) {
  clear();
  show(stdout, line + "\n");
}

void RunScreen::show_progress(const std::string& work, std::uint64_t done, std::uint64_t total) {
  if (!progress_) progress_ = std::make_unique<Progress>(work, total);
  progress_->update(done);
  if (done >= total) clear();
}

void RunScreen::clear() {
  if (progress_) progress_->clear();
  progress_.reset();
}

}  // namespace stoker
