// What a run tells the program that started it, and asks of it. Every function may be empty. Calls
// come from the thread that trains, but for `stalled`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "stoker/train/observer.h"

namespace stoker {

// Gives every rank the text that rank 0 passed under a name.
using ShareText = std::function<std::string(const std::string& name, const std::string& own_text)>;

struct RunEvents {
  std::function<void(const std::string& line)> line = {};    // of log.txt
  std::function<void(const std::string& note)> trying = {};  // what is tried before the run
  // How lines of logs are put for their readers: options in backquotes as flags. Empty: as they
  // are.
  std::function<std::string(const std::string& text)> wording = {};
  // Of long work before and after training: "learning rates", "test".
  std::function<void(const std::string& work, std::uint64_t done, std::uint64_t total)> progress =
      {};
  // A worker is busy with one sample; from another thread.
  std::function<void(const std::string& sample, double seconds)> stalled = {};
  std::function<bool()> should_stop = {};         // asked after every step
  std::function<std::string()> why_stopped = {};  // "signal 2"
  std::vector<Observer*> observers = {};          // after the run's own; must outlive it

  void tell(const std::string& note) const {
    if (trying) trying(note);
  }
  void tell(const std::string& work, std::uint64_t done, std::uint64_t total) const {
    if (progress) progress(work, done, total);
  }
  [[nodiscard]] std::string worded(const std::string& text) const {
    return wording ? wording(text) : text;
  }
  [[nodiscard]] bool stop() const { return should_stop && should_stop(); }
  [[nodiscard]] std::string stop_reason() const {
    return why_stopped ? why_stopped() : "the program";
  }
};

}  // namespace stoker
