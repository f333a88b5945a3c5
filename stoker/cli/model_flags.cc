#include "stoker/cli/model_flags.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/data/catalog.h"
#include "stoker/train/device.h"
#include "stoker/train/threads.h"

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
  command
      .add_option("-j,--workers", evaluate.workers, "threads that feed; 0: what the job may use")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command.add_option("--threads", threads, "threads of LibTorch; 0: what pays for the model")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command.add_option("--device", device, "auto, cpu, cuda or cuda:INDEX")->capture_default_str();
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
  const ChosenDevice chosen = choose_device(flags.device);
  opened.device = fmt::format("{} ({})", chosen.device.str(), chosen.reason);
  Model& model = *opened.loaded.model;
  const auto batch = static_cast<std::int64_t>(flags.evaluate.batch_size);
  const ThreadSplit split =
      split_threads(cpu_budget(), {.workers = flags.evaluate.workers,
                                   .compute = flags.threads,
                                   .multiply_adds = model.multiply_adds() * batch,
                                   .device = chosen.device});
  at::set_num_threads(split.compute);
  model.to(chosen.device);
  opened.options.workers = split.workers;
  opened.options.normalisation = card.preprocessing.normalisation();
  return opened;
}

}  // namespace stoker
