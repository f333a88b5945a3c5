#include "stoker/run/ready_model.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "stoker/run/place_model.h"

namespace stoker {

std::string ReadyModel::engine_text() const {
  return options.engine ? options.engine->description() : "as in training";
}

ReadyModel make_ready(LoadedModel loaded, const ComputeSettings& compute, EvaluateOptions options,
                      const EngineSettings& engine) {
  const ModelCard& card = loaded.card;
  if (options.batch_size == 0) options.batch_size = default_evaluation_batch(card.input.image);
  const Placement placed = place_model(*loaded.model, compute, options.batch_size);
  options.workers = placed.threads.workers;
  options.engine =
      make_engine(*loaded.model, card, engine, placed.threads.compute, options.batch_size);
  options.normalisation = card.preprocessing.normalisation();
  options.task = card.task;
  options.loss = default_loss(card.task);
  options.target_scale = card.target_scale();
  options.thresholds = card.thresholds;
  options.on_error = OnError::kOmit;
  options.max_errors = std::numeric_limits<std::uint64_t>::max();
  return {.loaded = std::move(loaded),
          .options = std::move(options),
          .device = fmt::format("{} ({})", placed.device.device.str(), placed.device.reason),
          .threads = placed.threads.compute};
}

}  // namespace stoker
