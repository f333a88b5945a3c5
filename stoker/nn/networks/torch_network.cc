#include "stoker/nn/networks/torch_network.h"

#include <cmath>
#include <mutex>
#include <set>
#include <stdexcept>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/nn/graph/graph_builder.h"
#include "stoker/nn/layers/initial_weights.h"
#include "stoker/nn/layers/multiply_adds.h"
#include "stoker/nn/layers/shared_statistics.h"
#include "stoker/nn/networks/registry.h"

namespace stoker {
namespace {

[[noreturn]] void refuse(const std::string& architecture, std::string expected, std::string found,
                         std::string hint = {}) {
  throw Error({.what = fmt::format("cannot make the registered network {}", architecture),
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = std::move(hint)});
}

// LibTorch's generator starts from the seed while this lives, and then continues as before.
class SeededGenerator {
 public:
  explicit SeededGenerator(std::uint64_t seed) {
    const std::lock_guard lock(generator_.mutex());
    before_ = generator_.get_state();
    generator_.set_current_seed(seed);
  }
  ~SeededGenerator() {
    const std::lock_guard lock(generator_.mutex());
    generator_.set_state(before_);
  }
  SeededGenerator(const SeededGenerator&) = delete;
  SeededGenerator& operator=(const SeededGenerator&) = delete;

  [[nodiscard]] at::Tensor state() {
    const std::lock_guard lock(generator_.mutex());
    return generator_.get_state();
  }

 private:
  at::Generator generator_ = at::detail::getDefaultCPUGenerator();
  at::Tensor before_;
};

ModelStage tensors_of(const NetworkStage& stage) {
  ModelStage all{stage.name, {}};
  for (const auto& parameter : stage.layers->named_parameters()) {
    if (!parameter.value().defined()) continue;  // a norm without weights
    all.parameters.push_back({stage.name + "." + parameter.key(), parameter.value()});
  }
  for (const auto& buffer : stage.layers->named_buffers()) {
    if (!buffer.value().defined()) continue;
    all.buffers.push_back({stage.name + "." + buffer.key(), buffer.value()});
  }
  return all;
}

void check_names(const std::string& architecture, const Network& network) {
  if (network.stages.empty()) refuse(architecture, "at least one stage", "none");
  std::set<std::string> names = {"head"};
  for (const NetworkStage& stage : network.stages) {
    if (!stage.name.empty() && names.insert(stage.name).second) continue;
    refuse(architecture, "a name for each stage, none twice and none \"head\"",
           fmt::format("\"{}\"", stage.name));
  }
  if (!(network.dropout >= 0 && network.dropout < 1)) {
    refuse(architecture, "dropout from 0 to below 1", fmt::format("{}", network.dropout));
  }
}

// Optimisers would step twice by a tensor that is there twice; files hold these types alone.
void check_tensors(const std::string& architecture, const Network& network) {
  std::set<const void*> seen;
  const auto check = [&](const NamedTensor& named, bool type_fits, const char* types) {
    if (!type_fits || !named.tensor.device().is_cpu()) {
      refuse(architecture, fmt::format("{} as {} on the CPU", named.name, types),
             named.tensor.toString());
    }
    if (seen.insert(named.tensor.unsafeGetTensorImpl()).second) return;
    refuse(architecture, "each tensor once", fmt::format("{} a second time", named.name));
  };
  for (const NetworkStage& stage : network.stages) {
    const ModelStage tensors = tensors_of(stage);
    for (const NamedTensor& named : tensors.parameters) {
      check(named, named.tensor.scalar_type() == at::kFloat, "float32");
    }
    for (const NamedTensor& named : tensors.buffers) {
      const at::ScalarType type = named.tensor.scalar_type();
      check(named, type == at::kFloat || type == at::kDouble || type == at::kLong,
            "float32, float64 or int64");
    }
  }
}

// Convolutions keep theirs as those of layers.h do.
void lay_out_weights(const Network& network) {
  for (const NetworkStage& stage : network.stages) {
    for (const NamedTensor& named : tensors_of(stage).parameters) {
      if (named.tensor.dim() != 4) continue;
      named.tensor.set_data(named.tensor.detach().contiguous(at::MemoryFormat::ChannelsLast));
    }
  }
}

void draw_weights(const Network& network, LayerSeed& layers) {
  const at::NoGradGuard no_grad;
  for (const NetworkStage& stage : network.stages) {
    for (const NamedTensor& named : tensors_of(stage).parameters) {
      const at::Tensor& tensor = named.tensor;
      if (tensor.dim() >= 2 && tensor.numel() > 0) {
        const std::int64_t inputs = tensor.numel() / tensor.size(0);
        tensor.copy_(uniform_weights(tensor.sizes(), std::sqrt(6 / static_cast<double>(inputs)),
                                     layers.seed, layers.next_layer++));
      } else if (named.name.ends_with(".bias")) {
        tensor.zero_();
      }
    }
  }
}

struct Trial {
  std::int64_t features = 0;
  std::int64_t multiply_adds = 0;  // of one image
};

// In training, since layers may draw at random there; statistics stay as they were.
Trial try_out(const std::string& architecture, const Network& network, const ModelInput& input,
              SeededGenerator& generator) {
  constexpr std::int64_t kImages = 2;  // batch norms need more than one
  const at::NoGradGuard no_grad;
  std::vector<std::pair<at::Tensor, at::Tensor>> kept;
  for (const NetworkStage& stage : network.stages) {
    for (const NamedTensor& buffer : tensors_of(stage).buffers) {
      kept.emplace_back(buffer.tensor, buffer.tensor.clone());
    }
  }
  const at::Tensor before = generator.state();
  const ImageShape& image = input.image;
  at::Tensor a = at::zeros({kImages, image.channels, image.height, image.width})
                     .contiguous(at::MemoryFormat::ChannelsLast);
  const std::int64_t multiply_adds = multiply_adds_of([&] {
    for (const NetworkStage& stage : network.stages) {
      stage.layers.ptr()->train();
      a = stage.layers.ptr()->forward(a);
    }
  });
  for (auto& [buffer, value] : kept) buffer.copy_(value);
  if (!at::equal(before, generator.state())) {
    refuse(architecture, "layers that draw nothing at random in training",
           "one that does, such as torch::nn::Dropout",
           "Network::dropout is drawn by seed, batch and sample");
  }
  if ((a.dim() != 2 && a.dim() != 4) || a.size(0) != kImages || a.size(1) < 1) {
    refuse(architecture, "(samples, features) or (samples, channels, height, width) of the stages",
           fmt::format("({}) for {} samples", fmt::join(a.sizes(), ", "), kImages));
  }
  return {.features = a.size(1), .multiply_adds = multiply_adds / kImages};
}

std::unique_ptr<Model> make_checked(const NetworkFamily& family, const std::string& architecture,
                                    const std::string& details, const ModelInput& input,
                                    std::uint64_t seed) {
  SeededGenerator generator(seed);
  Network network = family.make(
      {.details = details, .image = input.image, .classes = input.classes, .seed = seed});
  check_names(architecture, network);
  check_tensors(architecture, network);
  lay_out_weights(network);
  LayerSeed layers{.seed = seed};
  if (!network.keep_weights) draw_weights(network, layers);
  const Trial trial = try_out(architecture, network, input, generator);
  Linear head(trial.features, input.classes, layers);
  const std::int64_t multiply_adds = trial.multiply_adds + head.weight.numel();
  return std::make_unique<TorchNetwork>(architecture, input, std::move(network), std::move(head),
                                        multiply_adds);
}

}  // namespace

TorchNetwork::TorchNetwork(const std::string& architecture, const ModelInput& input,
                           Network network, Linear head, std::int64_t multiply_adds)
    : StagedNetwork(architecture, input),
      network_(std::move(network)),
      head_(std::move(head)),
      multiply_adds_(multiply_adds) {
  for (const NetworkStage& stage : network_.stages) tensors_.push_back(tensors_of(stage));
}

std::vector<ModelStage> TorchNetwork::stages() const {
  std::vector<ModelStage> all = tensors_;
  head_.append_parameters("head", all.emplace_back(ModelStage{"head", {}}).parameters);
  return all;
}

void TorchNetwork::move_tensors(const at::Device& device) {
  for (NetworkStage& stage : network_.stages) stage.layers->to(device);
  head_.to(device);
}

at::Tensor TorchNetwork::run_stage(std::size_t stage, const at::Tensor& x,
                                   const StageContext& context) const {
  if (context.training && SharedStatistics::active() && !tensors_[stage].buffers.empty()) {
    throw Error(
        {.what = "a registered network cannot share batch statistics among ranks",
         .expected = "a network without buffers, or `sync_bn` off",
         .found = fmt::format("{} of {}", tensors_[stage].buffers.front().name, architecture())});
  }
  const auto& layers = network_.stages[stage].layers.ptr();
  layers->train(context.training);
  try {
    return layers->forward(x);
  } catch (const c10::Error& error) {
    // LibTorch's batch norms; training expects an Error, as the norms of layers.h throw it.
    const std::string text = error.what_without_backtrace();
    if (text.find("more than 1 value per channel") == std::string::npos) throw;
    throw Error({.what = "batch normalisation cannot learn from this batch",
                 .expected = "at least two values for each channel",
                 .found = fmt::format("one in {}, for {} samples", tensors_[stage].name, x.size(0)),
                 .hint = "Use a batch size that leaves no single sample over, or larger images"});
  }
}

at::Tensor TorchNetwork::pooled(const at::Tensor& x) const {
  return x.dim() == 4 ? at::adaptive_avg_pool2d(x, {1, 1}).flatten(1) : x;
}

GraphReference TorchNetwork::append_stage(std::size_t /*stage*/, GraphBuilder& /*graph*/,
                                          GraphReference /*x*/) const {
  throw Error({.what = "cannot export a registered network",
               .expected = "a built-in network",
               .found = architecture()});
}

GraphReference TorchNetwork::append_pooled(GraphBuilder& graph, GraphReference x) const {
  return append_stage(0, graph, x);
}

std::unique_ptr<Model> make_torch_network(const NetworkFamily& family,
                                          const std::string& architecture,
                                          const std::string& details, const ModelInput& input,
                                          std::uint64_t seed) {
  try {
    return make_checked(family, architecture, details, input, seed);
  } catch (const std::invalid_argument&) {  // std::stoi() and its like throw these
    refuse(architecture, family.usage, fmt::format("\"{}\"", details));
  } catch (const std::out_of_range&) {
    refuse(architecture, family.usage, fmt::format("\"{}\"", details));
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const c10::Error& error) {
    refuse(architecture,
           fmt::format("a network for images of {} and {} classes", shape_text(input.image),
                       input.classes),
           fmt::format("LibTorch's error: {}", error.what_without_backtrace()));
  }
}

void register_network(NetworkFamily family) {
  if (!family.make) {
    throw Error({.what = fmt::format("cannot register the network \"{}\"", family.name),
                 .expected = "a function that makes it",
                 .found = "none"});
  }
  if (family.usage.empty()) family.usage = family.name;
  ModelFamily names{.name = family.name, .usage = family.usage, .summary = "a registered network"};
  register_family(std::move(names), [family = std::move(family)](
                                        const std::string& architecture, const std::string& details,
                                        const ModelInput& input, std::uint64_t seed) {
    return make_torch_network(family, architecture, details, input, seed);
  });
}

}  // namespace stoker
