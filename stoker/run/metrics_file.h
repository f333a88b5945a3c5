// A run's figures in Prometheus' text format, for node_exporter's textfile collector and the like.
// The file is replaced as a whole, so that no reader sees half of it.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>

#include "stoker/train/observer.h"

namespace stoker {

class MetricsFile final : public Observer {
 public:
  // `run` labels the figures.
  MetricsFile(std::filesystem::path path, std::string run, Task task);

  void step_done(const StepReport& report) override;  // writes every five seconds at most
  void epoch_done(const EpochReport& report) override;

 private:
  void note_device(const State& state);
  void write();

  std::filesystem::path path_;
  std::string run_;
  Task task_;
  std::map<std::string, double> values_;
  std::chrono::steady_clock::time_point written_ = {};
};

}  // namespace stoker
