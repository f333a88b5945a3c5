#include "stoker/cli/progress.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace stoker {
namespace {

constexpr int kBarWidth = 30;
constexpr auto kBarInterval = std::chrono::milliseconds(100);
constexpr auto kLineInterval = std::chrono::seconds(1);

std::string bar(double share) {
  const int filled = static_cast<int>(share * kBarWidth + 0.5);
  std::string text;
  for (int i = 0; i < kBarWidth; ++i) text += i < filled ? "█" : "░";
  return text;
}

}  // namespace

ProgressStyle progress_style(std::FILE* file) {
  return isatty(fileno(file)) != 0 ? ProgressStyle::kBar : ProgressStyle::kLines;
}

Progress::Progress(std::string label, std::uint64_t total, std::FILE* file, ProgressStyle style)
    : label_(std::move(label)),
      total_(std::max<std::uint64_t>(1, total)),
      file_(file),
      style_(style),
      start_(Clock::now()),
      last_drawn_(start_) {}

Progress::~Progress() {
  if (!drawn_) return;
  if (done_ != drawn_done_) draw(Clock::now(), "");
  if (style_ == ProgressStyle::kBar) std::fputs("\n", file_);
}

void Progress::clear() {
  if (drawn_ && style_ == ProgressStyle::kBar) std::fputs("\r\x1b[K", file_);
  drawn_ = false;
}

void Progress::update(std::uint64_t done, const Details& details) {
  done_ = done;
  const auto now = Clock::now();
  const bool bar_due = style_ == ProgressStyle::kBar && now - last_drawn_ >= kBarInterval;
  // A log gets at most a line a tenth of the work, and none for work that is over in a second.
  const bool line_due = style_ == ProgressStyle::kLines && now - last_drawn_ >= kLineInterval &&
                        (done_ - drawn_done_) * 10 >= total_;
  if (bar_due || line_due) draw(now, details ? "  " + details() : "");
}

std::string Progress::numbers(Clock::time_point now) const {
  const double share = std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(done_) / seconds : 0;
  const double left = rate > 0 ? static_cast<double>(total_ - std::min(done_, total_)) / rate : 0;
  return fmt::format("{:3.0f} %  {:.0f} samples/s  {:.0f} s left", share * 100, rate, left);
}

void Progress::draw(Clock::time_point now, const std::string& details) {
  const double share = std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
  if (style_ == ProgressStyle::kBar) {
    // \x1b[K clears what a longer line before left over.
    fmt::print(file_, "\r{} {} {}{}\x1b[K", label_, bar(share), numbers(now), details);
  } else {
    fmt::print(file_, "{}: {}{}\n", label_, numbers(now), details);
  }
  std::fflush(file_);
  last_drawn_ = now;
  drawn_done_ = done_;
  drawn_ = true;
}

}  // namespace stoker
