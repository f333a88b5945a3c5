#include "stoker/run/calibrate.h"

#include <algorithm>

#include "stoker/core/error.h"
#include "stoker/data/sources/subset.h"
#include "stoker/nn/int8/calibration_engine.h"
#include "stoker/train/evaluate.h"

namespace stoker {

Calibration calibrate(const ReadyModel& ready, const std::shared_ptr<const Source>& source,
                      std::uint64_t images, const std::function<void(std::uint64_t)>& on_progress) {
  const Model& model = *ready.loaded.model;
  const auto engine = std::make_shared<CalibrationEngine>(model);
  EvaluateOptions options = ready.options;
  options.engine = engine;
  std::uint64_t done = 0;
  const auto part = std::make_shared<Subset>(source, std::min(images, source->size()), /*seed=*/0);
  predict(model, part, options, [&](const Predictions& batch) {
    done += batch.indices.size() + batch.skipped.size();
    if (on_progress) on_progress(done);
  });
  Calibration calibration = engine->calibration();
  if (calibration.images > 0) return calibration;
  throw Error({.what = "cannot calibrate a model without images that can be read"});
}

}  // namespace stoker
