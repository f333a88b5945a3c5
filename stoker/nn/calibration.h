// What int8 needs to know of a network besides its weights: which numbers its layers see.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace stoker {

// The least and the most of a value, as images usually have them; 0 lies between.
struct ValueRange {
  double least = 0, most = 0;

  bool operator==(const ValueRange&) const = default;
};

struct Calibration {
  std::uint64_t images = 0;                       // that were measured
  std::map<std::string, ValueRange> ranges = {};  // by the names of the graph's values

  [[nodiscard]] bool empty() const noexcept { return ranges.empty(); }
  bool operator==(const Calibration&) const = default;
};

// As a model file has it: JSON.
[[nodiscard]] std::string calibration_text(const Calibration& calibration);
// Throws Error where the text is no calibration; `path` is for messages.
[[nodiscard]] Calibration parse_calibration(const std::string& text, const std::string& path);

}  // namespace stoker
