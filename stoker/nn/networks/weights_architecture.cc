#include "stoker/nn/networks/weights_architecture.h"

#include <algorithm>
#include <array>
#include <utility>

#include "stoker/core/error.h"
#include "stoker/nn/families/published_names.h"
#include "stoker/nn/model_keys.h"
#include "stoker/nn/timm/timm_folder.h"

namespace stoker {
namespace {

struct Sign {
  const char* tensor;  // that only this network and those above it in the list have
  const char* architecture;
};
constexpr std::array<Sign, 5> kSigns = {{{"layer3.22.conv3.weight", "resnet101"},
                                         {"layer3.5.conv3.weight", "resnet50"},
                                         {"layer3.5.conv2.weight", "resnet34"},
                                         {"layer4.1.conv2.weight", "resnet18"},
                                         {"features.17.conv.3.weight", "mobilenet_v2"}}};

}  // namespace

std::optional<std::string> known_architecture(const WeightsFile& file) {
  const auto own = file.metadata().find(kArchitectureKey);
  if (own != file.metadata().end()) return own->second;
  for (const Sign& sign : kSigns) {
    if (std::ranges::find(file.tensors(), sign.tensor, &TensorView::name) != file.tensors().end()) {
      return sign.architecture;
    }
  }
  return built_network_of(file.tensors());
}

std::string architecture_of_weights(const std::filesystem::path& path) {
  if (const auto folder = timm_folder_of(path)) {
    return std::string(built_in_family(*folder).architecture);
  }
  if (auto known = known_architecture(WeightsFile(path))) return *std::move(known);
  throw Error({.what = "the weights do not tell which network they are of",
               .path = path.string(),
               .expected = "weights of a built-in network in torchvision's or timm's names, or a "
                           "model file of `stoker train`",
               .found = "tensors with other names",
               .hint = "Name the network: `model`"});
}

}  // namespace stoker
