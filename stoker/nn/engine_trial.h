// How engines did with a model on a machine: whether they agree, and how fast they were. A model
// file keeps it, so that a later command can choose.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stoker {

struct EngineFigure {
  std::string engine, precision;
  double images_per_second = 0;
  // Against the network as training computes it: the part of the images that have the same class
  // (of several labels: the same labels), and the largest difference of a logit.
  double same = 0, largest_difference = 0;

  bool operator==(const EngineFigure&) const = default;
};

struct EngineTrial {
  std::string cpu;
  int threads = 0;
  std::uint64_t images = 0, batch_size = 0;
  std::vector<EngineFigure> figures = {};

  [[nodiscard]] bool empty() const noexcept { return figures.empty(); }
  bool operator==(const EngineTrial&) const = default;
};

// As a model file has it: JSON.
[[nodiscard]] std::string engine_trial_text(const EngineTrial& trial);
// Throws Error where the text is none; `path` is for messages.
[[nodiscard]] EngineTrial parse_engine_trial(const std::string& text, const std::string& path);

}  // namespace stoker
