#include "stoker/nn/calibration.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "stoker/io/model_metadata.h"
#include "stoker/nn/model_keys.h"

namespace stoker {

using RangesJson = nlohmann::json;

std::string calibration_text(const Calibration& calibration) {
  RangesJson ranges = RangesJson::object();
  for (const auto& [name, range] : calibration.ranges) ranges[name] = {range.least, range.most};
  return RangesJson{{"images", calibration.images}, {"ranges", std::move(ranges)}}.dump();
}

Calibration parse_calibration(const std::string& text, const std::string& path) {
  Calibration calibration;
  try {
    const RangesJson json = RangesJson::parse(text);
    calibration.images = json.at("images").get<std::uint64_t>();
    for (const auto& [name, pair] : json.at("ranges").items()) {
      const ValueRange range{pair.at(0).get<double>(), pair.at(1).get<double>()};
      const bool usable = pair.size() == 2 && std::isfinite(range.least) &&
                          std::isfinite(range.most) && range.least <= 0 && range.most >= 0;
      if (!usable) refuse_model_value(path, kCalibrationKey, "ranges around 0", pair.dump());
      calibration.ranges.emplace(name, range);
    }
  } catch (const RangesJson::exception& error) {
    refuse_model_value(path, kCalibrationKey, "JSON with images and ranges", error.what());
  }
  return calibration;
}

}  // namespace stoker
