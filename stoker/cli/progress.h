// Progress of long work on stderr: a bar for a person at a terminal, plain lines for a pipe or a
// file. For one thread. Drawing is rare (ten times a second, a line every tenth), so update() can
// be called for every batch.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

namespace stoker {

enum class ProgressStyle : std::uint8_t { kBar, kLines };

// kBar where `file` is a terminal.
[[nodiscard]] ProgressStyle progress_style(std::FILE* file);

// What a bar shows, in fewer columns than the terminal has: the bar gives way to the text (ASCII),
// which is cut only where it does not fit alone.
[[nodiscard]] std::string bar_line(const std::string& label, double share, const std::string& text,
                                   int columns);

class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  Progress(std::string label, std::uint64_t total, std::FILE* file, ProgressStyle style);
  Progress(std::string label, std::uint64_t total)
      : Progress(std::move(label), total, stderr, progress_style(stderr)) {}
  ~Progress();  // ends the bar's line
  // Removes the bar, so that a line of results takes its place.
  void clear();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `details` is asked only when something is drawn: it may cost a little.
  using Details = std::function<std::string()>;
  void update(std::uint64_t done, const Details& details = {});

 private:
  void draw(Clock::time_point now, const std::string& details);
  void erase();  // the bar, also where a narrower terminal has broken its line
  [[nodiscard]] std::string numbers(Clock::time_point now) const;

  std::string label_;
  std::uint64_t total_;
  std::FILE* file_;
  ProgressStyle style_;
  std::uint64_t done_ = 0;
  std::uint64_t drawn_done_ = 0;
  bool drawn_ = false;
  int drawn_columns_ = 0;  // of the bar's line
  Clock::time_point start_, last_drawn_;
};

// ", about 2 min 30 s left", from the runs that are done; empty where none is left.
[[nodiscard]] std::string time_left_text(double seconds_of_done, std::size_t done,
                                         std::size_t count);

}  // namespace stoker
