#include "stoker/nn/pretrained.h"

#include <array>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/io/fit_weights.h"
#include "stoker/io/weights_file.h"
#include "stoker/nn/tensor_views.h"

namespace stoker {
namespace {

struct Published {
  const char* architecture;
  const char* file;  // with the first digits of its SHA-256
};
constexpr std::array<Published, 5> kTorchvision = {{{"resnet18", "resnet18-f37072fd.pth"},
                                                    {"resnet34", "resnet34-b627a593.pth"},
                                                    {"resnet50", "resnet50-0676ba61.pth"},
                                                    {"resnet101", "resnet101-63fe2227.pth"},
                                                    {"mobilenet_v2", "mobilenet_v2-b0353104.pth"}}};

std::string where_to_get(const std::string& architecture) {
  for (const Published& published : kTorchvision) {
    if (architecture != published.architecture) continue;
    return fmt::format(
        "Nothing is downloaded. torchvision publishes {}'s weights for ImageNet as {}; the digits "
        "in its name begin its SHA-256.",
        architecture, published.file);
  }
  return "Nothing is downloaded: name a file.";
}

std::vector<WantedTensor> wanted_by(std::span<const NamedTensor> tensors,
                                    std::span<const TensorView> views) {
  std::vector<WantedTensor> wanted;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    wanted.push_back({tensors[i].name, views[i].dtype, views[i].shape});
  }
  return wanted;
}

}  // namespace

std::string load_pretrained(Model& model, const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) {
    throw Error({.what = "cannot find the weights",
                 .path = path.string(),
                 .expected = "a file of weights",
                 .found = "no such file",
                 .hint = where_to_get(model.architecture())});
  }
  const WeightsFile file(path);
  const std::vector<NamedTensor> tensors = all_tensors(model);
  const FileTensors now(tensors);
  const WeightsFit fit =
      fit_weights(wanted_by(tensors, now.views()), file.tensors(), model.stages().back().name);
  if (!fit.missing.empty() || !fit.different.empty()) {
    throw Error({.what = "the weights do not fit the network",
                 .path = path.string(),
                 .expected = fmt::format("all tensors of {}", model.architecture()),
                 .found = fit.text()});
  }
  const at::NoGradGuard no_grad;
  for (const WeightsFit::Pair& pair : fit.fitting) {
    at::Tensor target = tensors[pair.wanted].tensor;
    target.copy_(tensor_of(file.tensors()[pair.found]));
  }
  return fit.text();
}

}  // namespace stoker
