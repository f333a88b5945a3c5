#include "stoker/cli/progress.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "stoker/cli/screen_text.h"
#include "stoker/report/html_page.h"

namespace stoker {
namespace {

constexpr int kBarWidth = 30, kLeastBarWidth = 5;
constexpr int kUsualColumns = 80;
constexpr auto kBarInterval = std::chrono::milliseconds(100);
constexpr auto kLineInterval = std::chrono::seconds(1);

std::string bar(double share, int width) {
  const int filled = static_cast<int>(std::lround(share * width));
  std::string text;
  for (int i = 0; i < width; ++i) text += i < filled ? "█" : "░";
  return text;
}

int columns_of(std::FILE* file) {
  winsize size{};
  const bool known = ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUsualColumns;
}

// Of a text without control characters; continuation bytes of UTF-8 take none.
int columns_in(const std::string& line) {
  return static_cast<int>(std::ranges::count_if(
      line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string bar_line(const std::string& label, double share, const std::string& text, int columns) {
  // A line that fills the terminal would move on to the next, and so would the "^C" of a user.
  constexpr int kFree = 3;
  const int available = columns - kFree - static_cast<int>(label.size()) - 2;
  const int width = std::min(kBarWidth, available - static_cast<int>(text.size()));
  if (width >= kLeastBarWidth) return fmt::format("{} {} {}", label, bar(share, width), text);
  const std::string plain = fmt::format("{}  {}", label, text);
  return plain.substr(0, static_cast<std::size_t>(std::max(0, columns - kFree)));
}

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
  if (style_ == ProgressStyle::kBar) show_as_it_is(file_, "\n");
}

void Progress::clear() {
  if (drawn_ && style_ == ProgressStyle::kBar) erase();
  drawn_ = false;
}

void Progress::erase() {
  const int rows_above = std::max(0, drawn_columns_ - 1) / std::max(1, columns_of(file_));
  const std::string up = rows_above > 0 ? fmt::format("\x1b[{}A", rows_above) : "";
  show_as_it_is(file_, up + "\r\x1b[J");
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
  const std::string time = left < 100 ? fmt::format("{:.0f} s", left) : duration_text(left);
  return fmt::format("{:3.0f} %  {:.0f} samples/s  {} left", share * 100, rate, time);
}

void Progress::draw(Clock::time_point now, const std::string& details) {
  const double share = std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
  if (style_ == ProgressStyle::kBar) {
    if (drawn_) erase();
    const std::string line = bar_line(label_, share, numbers(now) + details, columns_of(file_));
    drawn_columns_ = columns_in(line);
    show(file_, line);
  } else {
    show(file_, fmt::format("{}: {}{}\n", label_, numbers(now), details));
  }
  last_drawn_ = now;
  drawn_done_ = done_;
  drawn_ = true;
}

std::string time_left_text(double seconds_of_done, std::size_t done, std::size_t count) {
  if (done == 0 || done >= count) return {};
  const double each = seconds_of_done / static_cast<double>(done);
  return fmt::format(", about {} left", duration_text(each * static_cast<double>(count - done)));
}

}  // namespace stoker
