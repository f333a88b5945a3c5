#include "stoker/cli/published_flags.h"

#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "stoker/augment/policy.h"
#include "stoker/core/error.h"
#include "stoker/core/input_file.h"
#include "stoker/core/plain_text.h"
#include "stoker/io/weights_file.h"
#include "stoker/nn/networks/pretrained.h"
#include "stoker/nn/timm/timm_folder.h"
#include "stoker/nn/timm/timm_model.h"
#include "stoker/pipeline/normalise_settings.h"

namespace stoker {
namespace {

void check_utf8(const std::string& name, const std::string& path) {
  if (is_utf8(name)) return;
  throw Error({.what = "cannot read the names of the classes",
               .path = path,
               .expected = "UTF-8",
               .found = plain_text(name),
               .hint = "Convert the file, e.g. with `iconv -f LATIN1 -t UTF-8`."});
}

std::vector<std::string> read_class_names(const std::string& path) {
  std::istringstream file(read_text_file(path, "cannot read the names of the classes"));
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) line.pop_back();
    check_utf8(line, path);
    if (!line.empty()) names.push_back(std::move(line));
  }
  if (!names.empty()) return names;
  throw Error({.what = "cannot read the names of the classes",
               .path = path,
               .expected = "a text file with a class a line, in the order of the network's outputs",
               .found = "no line with a name"});
}

// All of it but the number of classes where they have no names.
ModelCard published_card(const PublishedFlags& flags) {
  const Policy policy = Policy::parse(flags.framing);
  if (policy.framing() == nullptr) {
    throw Error({.what = "--val-aa does not fit",
                 .expected = "an operation that gives images their size, e.g. resize_crop(256,224)",
                 .found = fmt::format("\"{}\"", flags.framing)});
  }
  NormaliseSettings normalise;
  normalise.resolve(/*channels=*/3);
  ModelCard card{.architecture = flags.model,
                 .input = {.image = {.height = policy.framing()->output_height(),
                                     .width = policy.framing()->output_width(),
                                     .channels = 3}},
                 .class_names = {},
                 .preprocessing = {.mean = normalise.means(),
                                   .deviation = normalise.deviations(),
                                   .framing = policy.text()}};
  if (!flags.class_names.empty()) card.class_names = read_class_names(flags.class_names);
  return card;
}

}  // namespace

void PublishedFlags::add_to(const Command& command) {
  const Flag network = command.add_option(
      "--model", model,
      "network of weights that do not say it, such as torchvision's files, e.g. mobilenet_v2");
  command
      .add_option("--class-names", class_names,
                  "with --model: text file with a class a line; not given: numbers from 0")
      .needs(network);
  command
      .add_option("--val-aa", framing,
                  "with --model: what gives images their size, e.g. \"resize_crop(232,224)\"")
      .needs(network);
  command.add_flag("--allow-nonfinite", allow_nonfinite, "accept weights that are NaN or infinite");
}

LoadedModel PublishedFlags::load(const std::string& weights) const {
  if (!model.empty()) return load_published(weights, published_card(*this), allow_nonfinite);
  const WeightsFile file(weights);
  if (!timm_config_of(weights) && !file.metadata().contains(kArchitectureKey)) {
    throw Error(
        {.what = "the weights do not say which network they are of",
         .path = weights,
         .expected = "a model file of `stoker train`, a folder with config.json, or --model",
         .found = fmt::format("no {} in the metadata", kArchitectureKey),
         .hint = "For torchvision's file: --model mobilenet_v2, resnet18, …"});
  }
  return load_described_model(weights, allow_nonfinite);
}

}  // namespace stoker
