// Networks that timm has too: by which name, and with which names of tensors. A new family is a row
// of the table in timm_families.cc; one whose tensors have timm's names already needs no pairs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/io/safetensors.h"

namespace stoker {

struct ModuleNames {
  std::string_view ours, timm;  // without a "." at the end
};

// Modules of a network: `modules` one by one, and each of `blocks` with everything that
// `in_block` lists below it. A module that is in neither has the same name in both.
struct TimmNames {
  std::span<const ModuleNames> modules = {}, blocks = {}, in_block = {};
};

struct TimmFamily {
  std::string_view architecture;            // "mobilenet_v2", as make_model() reads it
  std::string_view timm;                    // "mobilenetv2_100"
  std::string_view first_conv, classifier;  // timm's names of the modules
  TimmNames names = {};
  bool noted = false;  // names are those that its layers note (GraphBuilder::named)
};

[[nodiscard]] std::span<const TimmFamily> timm_families();
// nullptr where there is none. By our name, or by timm's.
[[nodiscard]] const TimmFamily* find_timm_family(std::string_view architecture);
[[nodiscard]] const TimmFamily* find_family_of_timm(std::string_view timm);

// The tensors by timm's names; Error where two would have the same.
[[nodiscard]] std::vector<TensorView> with_timm_names(const TimmFamily& family,
                                                      std::vector<TensorView> tensors);
// The other way round: names that are not timm's stay.
[[nodiscard]] std::vector<TensorView> with_own_names(const TimmFamily& family,
                                                     std::vector<TensorView> tensors);

}  // namespace stoker
