#include "stoker/nn/networks/pretrained.h"

#include <array>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/io/fit_weights.h"
#include "stoker/io/weights_file.h"
#include "stoker/nn/families/published_names.h"
#include "stoker/nn/families/published_tensors.h"
#include "stoker/nn/finite_weights.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/nn/tensor_views.h"
#include "stoker/nn/timm/timm_families.h"

namespace stoker {
namespace {

constexpr std::int64_t kMaxClassRows = 1 << 20;  // any real number of them

// torchvision 0.29's IMAGENET1K_V1, and below them IMAGENET1K_V2.
constexpr auto kTorchvision =
    std::to_array<PublishedWeights>({{"resnet18", "resnet18-f37072fd.pth"},
                                     {"resnet34", "resnet34-b627a593.pth"},
                                     {"resnet50", "resnet50-0676ba61.pth"},
                                     {"resnet101", "resnet101-63fe2227.pth"},
                                     {"mobilenet_v2", "mobilenet_v2-b0353104.pth"},
                                     {"convnext_tiny", "convnext_tiny-983f1562.pth"},
                                     {"convnext_small", "convnext_small-0c510722.pth"},
                                     {"convnext_base", "convnext_base-6075fbad.pth"},
                                     {"vit_base_patch16_224", "vit_b_16-c867db91.pth"},
                                     {"efficientnet_b0", "efficientnet_b0_rwightman-7f5810bc.pth"},
                                     {"efficientnet_b1", "efficientnet_b1-c27df63c.pth"},
                                     {"efficientnet_b2", "efficientnet_b2_rwightman-c35c1473.pth"},
                                     {"efficientnet_b3", "efficientnet_b3_rwightman-b3899882.pth"},
                                     {"efficientnet_b4", "efficientnet_b4_rwightman-23ab8bcd.pth"},
                                     {"efficientnet_v2_s", "efficientnet_v2_s-dd5fe13b.pth"},
                                     {"mobilenet_v3_small", "mobilenet_v3_small-047dcff4.pth"},
                                     {"mobilenet_v3_large", "mobilenet_v3_large-5c1a4163.pth"},
                                     {"regnet_y_400mf", "regnet_y_400mf-e6988f5f.pth"},
                                     {"regnet_y_800mf", "regnet_y_800mf-58fc7688.pth"},
                                     {"regnet_y_1_6gf", "regnet_y_1_6gf-0d7bc02a.pth"},
                                     {"regnet_y_3_2gf", "regnet_y_3_2gf-9180c971.pth"},
                                     {"regnet_y_8gf", "regnet_y_8gf-dc2b1b54.pth"},
                                     {"resnet50", "resnet50-11ad3fa6.pth"},
                                     {"resnet101", "resnet101-cd907fc2.pth"},
                                     {"mobilenet_v2", "mobilenet_v2-7ebf99e0.pth"}});

std::string where_to_get(const std::string& architecture) {
  for (const PublishedWeights& published : kTorchvision) {
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

void check_exists(const std::filesystem::path& path, const std::string& architecture) {
  if (std::filesystem::exists(path)) return;
  throw Error({.what = "cannot find the weights",
               .path = path.string(),
               .expected = "a file of weights",
               .found = "no such file",
               .hint = where_to_get(architecture)});
}

[[noreturn]] void fail_fit(const Model& model, const std::filesystem::path& path,
                           std::string found) {
  throw Error({.what = "the weights do not fit the network",
               .path = path.string(),
               .expected = fmt::format("all tensors of {} for {} classes", model.architecture(),
                                       model.input().classes),
               .found = std::move(found)});
}

// By our names, where the file has timm's. Names that layers note are PublishedTensors' work.
std::vector<TensorView> own_tensors(const WeightsFile& file, const std::string& architecture) {
  const TimmFamily* family = find_timm_family(architecture);
  const bool renames = family != nullptr && !family->noted;
  return renames ? with_own_names(*family, file.tensors()) : file.tensors();
}

WeightsFit load_fitting(Model& model, const WeightsFile& file, const std::filesystem::path& path,
                        bool allow_nonfinite) {
  const std::vector<TensorView> given = own_tensors(file, model.architecture());
  const std::vector<NamedTensor> tensors = all_tensors(model);
  const FileTensors now(tensors);
  const PublishedTensors found(given, model.architecture(), model.input());
  WeightsFit fit =
      fit_weights(wanted_by(tensors, now.views()), found.views(), model.stages().back().name);
  // Only batch norms without momentum read their counters, and none here is such.
  std::erase_if(fit.missing,
                [](const std::string& name) { return name.ends_with(".num_batches_tracked"); });
  if (!fit.missing.empty() || !fit.different.empty()) fail_fit(model, path, fit.text());
  const at::NoGradGuard no_grad;
  if (!allow_nonfinite) {
    std::vector<NamedTensor> taken;
    for (const WeightsFit::Pair& pair : fit.fitting) {
      taken.push_back({tensors[pair.wanted].name, tensor_of(found.views()[pair.found])});
    }
    require_finite(taken, path.string());
  }
  for (const WeightsFit::Pair& pair : fit.fitting) {
    at::Tensor target = tensors[pair.wanted].tensor;
    target.copy_(tensor_of(found.views()[pair.found]));
  }
  return fit;
}

// Of the head, or of the only linear layer in the file, which is then the head.
std::int64_t count_classes(const WeightsFile& file, const std::filesystem::path& path,
                           const std::string& architecture) {
  std::vector<const TensorView*> matrices;
  for (const TensorView& tensor : file.tensors()) {
    if (tensor.shape.size() == 2) matrices.push_back(&tensor);
  }
  const std::int64_t classes = published_classes(file.tensors(), architecture)
                                   .value_or(matrices.size() == 1 ? matrices.front()->shape[0] : 0);
  if (classes >= 1 && classes <= kMaxClassRows) return classes;
  throw Error({.what = "the weights do not tell the number of classes",
               .path = path.string(),
               .expected = fmt::format("one matrix, with 1 to {} rows", kMaxClassRows),
               .found = matrices.size() == 1 ? fmt::format("{} rows", matrices.front()->shape[0])
                                             : fmt::format("{} matrices", matrices.size()),
               .hint = "Name the classes."});
}

}  // namespace

std::span<const PublishedWeights> published_weights() { return kTorchvision; }

std::string load_pretrained(Model& model, const std::filesystem::path& path, bool allow_nonfinite) {
  check_exists(path, model.architecture());
  return load_fitting(model, WeightsFile(path), path, allow_nonfinite).text();
}

LoadedModel load_published(const std::filesystem::path& path, ModelCard card,
                           bool allow_nonfinite) {
  check_exists(path, card.architecture);
  const WeightsFile file(path);
  if (card.class_names.empty()) {
    const std::int64_t classes = count_classes(file, path, card.architecture);
    for (std::int64_t i = 0; i < classes; ++i) card.class_names.push_back(std::to_string(i));
  }
  card.input.classes = static_cast<std::int64_t>(card.class_names.size());
  auto model = make_model(card.architecture, card.input, /*seed=*/0);
  card.architecture = model->architecture();
  const WeightsFit fit = load_fitting(*model, file, path, allow_nonfinite);
  if (!fit.replaced.empty()) fail_fit(*model, path, fit.text());
  return {.model = std::move(model), .card = std::move(card)};
}

}  // namespace stoker
