#include "stoker/nn/timm/timm_families.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/nn/families/built_families.h"

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

constexpr TimmFamily same_names(std::string_view name, std::string_view first_conv,
                                std::string_view classifier) {
  return {name, name, first_conv, classifier};
}
// Of a network whose layers note timm's names (nn/families).
constexpr TimmFamily noted_names(std::string_view name, std::string_view timm,
                                 std::string_view first_conv, std::string_view classifier) {
  return {name, timm, first_conv, classifier, {}, /*noted=*/true};
}

// Without MobileNetV3 and EfficientNetV2, whose batch norms have another epsilon in timm.
constexpr auto kFamilies = std::to_array<TimmFamily>(
    {same_names("resnet18", "conv1", "fc"),
     same_names("resnet34", "conv1", "fc"),
     same_names("resnet50", "conv1", "fc"),
     same_names("resnet101", "conv1", "fc"),
     {"mobilenet_v2",
      "mobilenetv2_100",
      "conv_stem",
      "classifier",
      {kMobileNetModules, kMobileNetBlocks, kMobileNetInBlock}},
     same_names("convnext_atto", "stem.0", "head.fc"),
     same_names("convnext_femto", "stem.0", "head.fc"),
     same_names("convnext_pico", "stem.0", "head.fc"),
     same_names("convnext_nano", "stem.0", "head.fc"),
     same_names("convnext_tiny", "stem.0", "head.fc"),
     same_names("convnext_small", "stem.0", "head.fc"),
     same_names("convnext_base", "stem.0", "head.fc"),
     same_names("vit_tiny_patch16_224", "patch_embed.proj", "head"),
     same_names("vit_small_patch16_224", "patch_embed.proj", "head"),
     same_names("vit_base_patch16_224", "patch_embed.proj", "head"),
     noted_names("efficientnet_b0", "efficientnet_b0", "conv_stem", "classifier"),
     noted_names("efficientnet_b1", "efficientnet_b1", "conv_stem", "classifier"),
     noted_names("efficientnet_b2", "efficientnet_b2", "conv_stem", "classifier"),
     noted_names("efficientnet_b3", "efficientnet_b3", "conv_stem", "classifier"),
     noted_names("efficientnet_b4", "efficientnet_b4", "conv_stem", "classifier"),
     noted_names("regnet_y_400mf", "regnety_004", "stem.conv", "head.fc"),
     noted_names("regnet_y_800mf", "regnety_008_tv", "stem.conv", "head.fc"),
     noted_names("regnet_y_1_6gf", "regnety_016", "stem.conv", "head.fc"),
     noted_names("regnet_y_3_2gf", "regnety_032", "stem.conv", "head.fc"),
     noted_names("regnet_y_8gf", "regnety_080_tv", "stem.conv", "head.fc")});

using NameMap = std::map<std::string, std::string, std::less<>>;

NameMap name_map(const TimmFamily& family, bool to_timm) {
  NameMap map;
  const TimmNames& names = family.names;
  const auto add = [&](const std::string& ours, const std::string& timm) {
    map[to_timm ? ours : timm] = to_timm ? timm : ours;
  };
  if (family.noted) {
    const std::string architecture(family.architecture);
    constexpr ModelInput kAny = {.image = {.height = 224, .width = 224, .channels = 3},
                                 .classes = 1};
    const BuiltFamily& built = *find_built_family(architecture);
    for (const OtherName& name : build_network(built, architecture, kAny, 0).other_names) {
      add(name.ours, name.theirs);
    }
  }
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
  return renamed(std::move(tensors), name_map(family, /*to_timm=*/true));
}

std::vector<TensorView> with_own_names(const TimmFamily& family, std::vector<TensorView> tensors) {
  return renamed(std::move(tensors), name_map(family, /*to_timm=*/false));
}

}  // namespace stoker
