#include "stoker/nn/networks/registry.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/core/suggest.h"
#include "stoker/nn/families/built_families.h"
#include "stoker/nn/graph/exported_network.h"
#include "stoker/nn/layers/vector_math.h"
#include "stoker/nn/networks/cnn.h"
#include "stoker/nn/networks/mlp.h"
#include "stoker/nn/networks/mobilenet.h"
#include "stoker/nn/networks/resnet.h"

namespace stoker {
namespace {

const std::vector<std::int64_t> kSmallCnn = {16, 48, 128};

std::optional<std::vector<std::int64_t>> parse_numbers(std::string_view text) {
  std::vector<std::int64_t> numbers;
  const char* at = text.data();
  const char* end = text.data() + text.size();
  while (true) {
    std::int64_t number = 0;
    const auto parsed = std::from_chars(at, end, number);
    if (parsed.ec != std::errc{}) return std::nullopt;
    numbers.push_back(number);
    if (parsed.ptr == end) return numbers;
    if (*parsed.ptr != ',') return std::nullopt;
    at = parsed.ptr + 1;
  }
}

[[noreturn]] void fail_details(const ModelFamily& family, const std::string& architecture) {
  throw OptionError({.what = "cannot read the model's name",
                     .expected = family.usage,
                     .found = fmt::format("\"{}\"", architecture)});
}

std::unique_ptr<Model> make_mlp(const ModelFamily& family, const std::string& architecture,
                                std::string_view details, const ModelInput& input,
                                std::uint64_t seed) {
  const auto is_sigmoid = [&](std::string_view name, std::string_view other) {
    if (name != "sigmoid" && name != other) fail_details(family, architecture);
    return name == "sigmoid";
  };
  Activation activation = Activation::kSigmoid;
  OutputActivation output = OutputActivation::kSoftmax;
  if (const std::size_t colon = details.find(':'); colon != std::string_view::npos) {
    std::string_view hidden = details.substr(colon + 1);
    details = details.substr(0, colon);
    if (const std::size_t second = hidden.find(':'); second != std::string_view::npos) {
      if (is_sigmoid(hidden.substr(second + 1), "softmax")) output = OutputActivation::kSigmoid;
      hidden = hidden.substr(0, second);
    }
    if (!is_sigmoid(hidden, "relu")) activation = Activation::kRelu;
  }
  const auto sizes = parse_numbers(details);
  if (!sizes) fail_details(family, architecture);
  return std::make_unique<Mlp>(*sizes, activation, seed, input, output);
}

std::unique_ptr<Model> make_cnn(const ModelFamily& family, const std::string& architecture,
                                std::string_view details, const ModelInput& input,
                                std::uint64_t seed) {
  const auto channels = details == "small" ? kSmallCnn : parse_numbers(details);
  if (!channels) fail_details(family, architecture);
  return std::make_unique<Cnn>(architecture, *channels, input, seed);
}

template <int kDepth>
std::unique_ptr<Model> make_resnet_of_depth(const ModelFamily& family,
                                            const std::string& architecture,
                                            std::string_view details, const ModelInput& input,
                                            std::uint64_t seed) {
  if (!details.empty()) fail_details(family, architecture);
  return make_resnet(kDepth, input, seed);
}

std::unique_ptr<Model> make_mobilenet(const ModelFamily& family, const std::string& architecture,
                                      std::string_view details, const ModelInput& input,
                                      std::uint64_t seed) {
  if (!details.empty()) fail_details(family, architecture);
  return make_mobilenet_v2(input, seed);
}

struct Entry {
  ModelFamily family;
  std::unique_ptr<Model> (*make)(const ModelFamily&, const std::string&, std::string_view,
                                 const ModelInput&, std::uint64_t);
};

// Takes no details.
ModelFamily torchvision_family(const char* name, const char* parameters) {
  return {.name = name,
          .usage = name,
          .summary = fmt::format("torchvision's, {} million parameters for 1000 classes; takes "
                                 "coloured images of 32x32 and more, any number of classes",
                                 parameters)};
}

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = {
      {{.name = "mlp",
        .usage = "mlp:SIZE,…,SIZE[:sigmoid|:relu[:softmax|:sigmoid]], e.g. mlp:784,128,10",
        .summary = "perceptron. The first size is height x width x channels, the last the number "
                   "of classes. Then the activations of hidden layers and output"},
       make_mlp},
      {{.name = "cnn",
        .usage = "cnn:small or cnn:CHANNELS,…,CHANNELS, e.g. cnn:16,32,64",
        .summary = fmt::format("convolutions of 3x3, small is cnn:{}; takes images of any size, "
                               "channels and number of classes",
                               fmt::join(kSmallCnn, ","))},
       make_cnn},
      {torchvision_family("resnet18", "11.7"), make_resnet_of_depth<18>},
      {torchvision_family("resnet34", "21.8"), make_resnet_of_depth<34>},
      {torchvision_family("resnet50", "25.6"), make_resnet_of_depth<50>},
      {torchvision_family("resnet101", "44.5"), make_resnet_of_depth<101>},
      {torchvision_family("mobilenet_v2", "3.5"), make_mobilenet},
  };
  return all;
}

// Grows at its end alone and keeps its elements where they are, so pointers to them stay valid.
struct Registered {
  struct Family {
    ModelFamily family;
    MakeModel make;
  };
  std::mutex mutex;
  std::deque<Family> families;
};

Registered& registered() {
  static Registered all;
  return all;
}

std::vector<const Registered::Family*> registered_families() {
  const std::lock_guard lock(registered().mutex);
  std::vector<const Registered::Family*> all;
  for (const Registered::Family& one : registered().families) all.push_back(&one);
  return all;
}

[[noreturn]] void refuse(const ModelFamily& family, std::string expected, std::string found) {
  throw Error({.what = fmt::format("cannot register the network \"{}\"", family.name),
               .expected = std::move(expected),
               .found = std::move(found)});
}

bool is_readable(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

[[noreturn]] void fail_unknown(const std::string& architecture, const std::string& name) {
  std::vector<std::string> names, usages;
  for (const ModelFamily& family : model_families()) {
    if (family.members.empty()) names.push_back(family.name);
    names.insert(names.end(), family.members.begin(), family.members.end());
    usages.push_back(family.usage);
  }
  for (const Registered::Family* one : registered_families()) {
    names.push_back(one->family.name);
    usages.push_back(one->family.usage);
  }
  const std::string near = did_you_mean(name, names);
  throw OptionError({.what = "unknown network",
                     .expected = fmt::format("{}", fmt::join(usages, "; or ")),
                     .found = fmt::format("\"{}\"", architecture),
                     .hint = fmt::format("{}{}A network of another program must be registered by "
                                         "it (stoker/network.h)",
                                         near, near.empty() ? "" : " ")});
}

}  // namespace

void register_family(ModelFamily family, MakeModel make) {
  if (!is_readable(family.name)) refuse(family, "a name of a-z, 0-9, \"_\" and \"-\"", "another");
  const std::lock_guard lock(registered().mutex);
  const bool taken =
      std::ranges::any_of(model_families(),
                          [&](const ModelFamily& other) { return other.name == family.name; }) ||
      find_built_family(family.name) != nullptr ||
      std::ranges::any_of(registered().families, [&](const Registered::Family& other) {
        return other.family.name == family.name;
      });
  if (taken) refuse(family, "a name that is free", "a network of this name");
  registered().families.push_back({std::move(family), std::move(make)});
}

std::span<const ModelFamily> model_families() {
  static const std::vector<ModelFamily> families = [] {
    std::vector<ModelFamily> list;
    for (const Entry& entry : entries()) list.push_back(entry.family);
    for (const BuiltFamily& built : built_families()) list.push_back(built.family);
    return list;
  }();
  return families;
}

namespace {

void check_options(const std::string& architecture, const NetworkOptions& options) {
  if (!options.head.empty() && !is_exported_network(architecture)) {
    throw OptionError({.what = "only a network from a .pt2 file has a head to be named",
                       .expected = "`model` FILE.pt2, or no `head`",
                       .found = fmt::format("`model` {}", architecture)});
  }
  // build_network() checks those of built-in graphs.
  if (options.drop_path == 0 || find_built_family(architecture) != nullptr) return;
  throw OptionError(
      {.what = fmt::format("{} takes no `drop_path`", architecture),
       .expected = "a built-in network with stochastic depth: convnext_*, vit_*, "
                   "efficientnet_*, regnet_y_*",
       .found = fmt::format("`drop_path` {}", options.drop_path),
       .hint = is_exported_network(architecture)
                   ? "Export the network with drop_path_rate=0.1 (scripts/export_network.py)"
                   : ""});
}

}  // namespace

std::unique_ptr<Model> make_model(const std::string& architecture, const ModelInput& input,
                                  std::uint64_t seed, const NetworkOptions& options) {
  settle_vector_math();  // before anything is computed by several threads
  check_options(architecture, options);
  if (is_exported_network(architecture)) {
    return load_exported_network(architecture, input, seed, options.head);
  }
  const std::size_t colon = architecture.find(':');
  const std::string name = architecture.substr(0, colon);
  const std::string details = colon == std::string::npos ? "" : architecture.substr(colon + 1);
  for (const Entry& entry : entries()) {
    if (entry.family.name != name) continue;
    return entry.make(entry.family, architecture, details, input, seed);
  }
  if (const BuiltFamily* built = find_built_family(name)) {
    if (colon != std::string::npos) fail_details(built->family, architecture);
    return make_built_network(
        architecture, build_network(*built, architecture, input, options.drop_path), input, seed);
  }
  for (const Registered::Family* one : registered_families()) {
    if (one->family.name == name) return one->make(architecture, details, input, seed);
  }
  fail_unknown(architecture, name);
}

}  // namespace stoker
