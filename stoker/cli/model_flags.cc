#include "stoker/cli/model_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/cli/place_model.h"
#include "stoker/core/error.h"
#include "stoker/data/catalog.h"

namespace stoker {
namespace {

void check_image_shape(const ModelCard& card, const Source& source, const std::string& path) {
  if (card.input.image == source.shape()) return;
  throw Error({.what = "the model was trained for other pictures than the data has",
               .path = path,
               .expected = shape_text(card.input.image),
               .found = shape_text(source.shape())});
}

}  // namespace

void ModelFlags::add_to(CLI::App& command) {
  command
      .add_option("data,--data", data,
                  fmt::format("data set by name ({}) or the path of a folder with its files",
                              fmt::join(known_data_names(), ", ")))
      ->required();
  command.add_option("--weights", weights, "model file, e.g. runs/NAME/weights/best.safetensors")
      ->required();
  command.add_option("--split", split, "which part of the data")
      ->check(CLI::IsMember({"train", "test"}))
      ->capture_default_str();
  command.add_option("-b,--batch-size", evaluate.batch_size, "samples a batch")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  compute.add_to(command);
}

ModelAndData open_model_and_data(const ModelFlags& flags) {
  ModelAndData opened{
      .loaded = load_model(flags.weights),
      .source = open_data(flags.data, flags.split == "train" ? Split::kTrain : Split::kTest),
      .options = flags.evaluate,
      .device = {}};
  const ModelCard& card = opened.loaded.card;
  check_image_shape(card, *opened.source, flags.weights);
  check_class_names(card.class_names, opened.source->class_names(), flags.weights);
  const Placement placed =
      place_model(*opened.loaded.model, flags.compute, flags.evaluate.batch_size);
  opened.device = fmt::format("{} ({})", placed.device.device.str(), placed.device.reason);
  opened.options.workers = placed.threads.workers;
  opened.options.normalisation = card.preprocessing.normalisation();
  return opened;
}

}  // namespace stoker
