#include "stoker/nn/timm/timm_families.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

// torchvision's names, which are ours, and timm's, as timm 1.0.30 has them.
constexpr auto kMobileNetModules = std::to_array<ModuleNames>(
    {{"features.0.0", "conv_stem"},
     {"features.0.1", "bn1"},
     // The first block does not expand its channels: it has one convolution less.
     {"features.1.conv.0.0", "blocks.0.0.conv_dw"},
     {"features.1.conv.0.1", "blocks.0.0.bn1"},
     {"features.1.conv.1", "blocks.0.0.conv_pw"},
     {"features.1.conv.2", "blocks.0.0.bn2"},
     {"features.18.0", "conv_head"},
     {"features.18.1", "bn2"},
     {"classifier.1", "classifier"}});
constexpr auto kMobileNetBlocks = std::to_array<ModuleNames>({{"features.2", "blocks.1.0"},
                                                              {"features.3", "blocks.1.1"},
                                                              {"features.4", "blocks.2.0"},
                                                              {"features.5", "blocks.2.1"},
                                                              {"features.6", "blocks.2.2"},
                                                              {"features.7", "blocks.3.0"},
                                                              {"features.8", "blocks.3.1"},
                                                              {"features.9", "blocks.3.2"},
                                                              {"features.10", "blocks.3.3"},
                                                              {"features.11", "blocks.4.0"},
                                                              {"features.12", "blocks.4.1"},
                                                              {"features.13", "blocks.4.2"},
                                                              {"features.14", "blocks.5.0"},
                                                              {"features.15", "blocks.5.1"},
                                                              {"features.16", "blocks.5.2"},
                                                              {"features.17", "blocks.6.0"}});
constexpr auto kMobileNetInBlock = std::to_array<ModuleNames>({{"conv.0.0", "conv_pw"},
                                                               {"conv.0.1", "bn1"},
                                                               {"conv.1.0", "conv_dw"},
                                                               {"conv.1.1", "bn2"},
                                                               {"conv.2", "conv_pwl"},
                                                               {"conv.3", "bn3"}});

constexpr auto kFamilies =
    std::to_array<TimmFamily>({{"resnet18", "resnet18", "conv1", "fc"},
                               {"resnet34", "resnet34", "conv1", "fc"},
                               {"resnet50", "resnet50", "conv1", "fc"},
                               {"resnet101", "resnet101", "conv1", "fc"},
                               {"mobilenet_v2",
                                "mobilenetv2_100",
                                "conv_stem",
                                "classifier",
                                {kMobileNetModules, kMobileNetBlocks, kMobileNetInBlock}}});

using NameMap = std::map<std::string, std::string, std::less<>>;

NameMap name_map(const TimmNames& names, bool to_timm) {
  NameMap map;
  const auto add = [&](const std::string& ours, const std::string& timm) {
    map[to_timm ? ours : timm] = to_timm ? timm : ours;
  };
  for (const ModuleNames& module : names.modules) {
    add(std::string(module.ours), std::string(module.timm));
  }
  for (const ModuleNames& block : names.blocks) {
    for (const ModuleNames& part : names.in_block) {
      add(fmt::format("{}.{}", block.ours, part.ours), fmt::format("{}.{}", block.timm, part.timm));
    }
  }
  return map;
}

std::vector<TensorView> renamed(std::vector<TensorView> tensors, const NameMap& modules) {
  std::set<std::string, std::less<>> taken;
  for (TensorView& tensor : tensors) {
    const std::size_t dot = tensor.name.rfind('.');
    if (dot != std::string::npos) {
      const auto found = modules.find(std::string_view(tensor.name).substr(0, dot));
      if (found != modules.end()) tensor.name = found->second + tensor.name.substr(dot);
    }
    if (taken.insert(tensor.name).second) continue;
    throw Error({.what = "the weights have two names for one tensor",
                 .expected = "timm's names or torchvision's",
                 .found = fmt::format("both for {}", tensor.name)});
  }
  return tensors;
}

}  // namespace

std::span<const TimmFamily> timm_families() { return kFamilies; }

const TimmFamily* find_timm_family(std::string_view architecture) {
  const auto* found = std::ranges::find(kFamilies, architecture, &TimmFamily::architecture);
  return found == kFamilies.end() ? nullptr : found;
}

const TimmFamily* find_family_of_timm(std::string_view timm) {
  const auto* found = std::ranges::find(kFamilies, timm, &TimmFamily::timm);
  return found == kFamilies.end() ? nullptr : found;
}

std::vector<TensorView> with_timm_names(const TimmFamily& family, std::vector<TensorView> tensors) {
  return renamed(std::move(tensors), name_map(family.names, /*to_timm=*/true));
}

std::vector<TensorView> with_own_names(const TimmFamily& family, std::vector<TensorView> tensors) {
  return renamed(std::move(tensors), name_map(family.names, /*to_timm=*/false));
}

}  // namespace stoker
