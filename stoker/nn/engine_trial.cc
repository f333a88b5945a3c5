#include "stoker/nn/engine_trial.h"

#include <nlohmann/json.hpp>

#include "stoker/io/model_metadata.h"
#include "stoker/nn/model_keys.h"

namespace stoker {

using TrialJson = nlohmann::json;

std::string engine_trial_text(const EngineTrial& trial) {
  TrialJson figures = TrialJson::array();
  for (const EngineFigure& figure : trial.figures) {
    figures.push_back({{"engine", figure.engine},
                       {"precision", figure.precision},
                       {"images_per_second", figure.images_per_second},
                       {"same", figure.same},
                       {"largest_difference", figure.largest_difference}});
  }
  return TrialJson{{"cpu", trial.cpu},
                   {"threads", trial.threads},
                   {"images", trial.images},
                   {"batch_size", trial.batch_size},
                   {"figures", std::move(figures)}}
      .dump(-1, ' ', false, TrialJson::error_handler_t::replace);
}

EngineTrial parse_engine_trial(const std::string& text, const std::string& path) {
  EngineTrial trial;
  try {
    const TrialJson json = TrialJson::parse(text);
    trial.cpu = json.at("cpu").get<std::string>();
    trial.threads = json.at("threads").get<int>();
    trial.images = json.at("images").get<std::uint64_t>();
    trial.batch_size = json.at("batch_size").get<std::uint64_t>();
    for (const TrialJson& figure : json.at("figures")) {
      trial.figures.push_back(
          {.engine = figure.at("engine").get<std::string>(),
           .precision = figure.at("precision").get<std::string>(),
           .images_per_second = figure.at("images_per_second").get<double>(),
           .same = figure.at("same").get<double>(),
           .largest_difference = figure.at("largest_difference").get<double>()});
    }
  } catch (const TrialJson::exception& error) {
    refuse_model_value(path, kEnginesKey, "JSON with figures of engines", error.what());
  }
  return trial;
}

}  // namespace stoker
