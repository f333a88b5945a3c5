#include "stoker/nn/networks/cnn.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/nn/graph/graph_builder.h"

namespace stoker {
namespace {

constexpr std::int64_t kSide = 3;
constexpr std::int64_t kMaxHeadSide = 7;

// Each stage but the last halves the image, which must not vanish.
void check_channels(const std::vector<std::int64_t>& channels, const ImageShape& image) {
  const int least = std::min(image.height, image.width);
  bool fits = !channels.empty() && channels.size() <= 20 && least >> (channels.size() - 1) >= 1;
  for (const std::int64_t count : channels) fits = fits && count >= 1 && count <= 1 << 16;
  if (fits) return;
  throw OptionError(
      {.what = "cannot make this convolutional network",
       .expected = fmt::format("channels of 1 to 65536 for each stage, and no more stages "
                               "than {} can be halved for",
                               shape_text(image)),
       .found = fmt::format("{} stages", channels.size()),
       .hint = "For example cnn:small or cnn:16,32,64"});
}

}  // namespace

Cnn::Cnn(const std::string& architecture, const std::vector<std::int64_t>& channels,
         const ModelInput& input, std::uint64_t seed)
    : StagedNetwork(architecture, input), head_([&] {
        check_channels(channels, input.image);
        LayerSeed layers{.seed = seed};
        std::int64_t inputs = input.image.channels;
        for (const std::int64_t outputs : channels) {
          stages_.push_back({Convolution(inputs, outputs, kSide, layers), BatchNorm(outputs)});
          inputs = outputs;
        }
        const auto left = [&](int side) {
          return std::min<std::int64_t>(kMaxHeadSide, side >> (channels.size() - 1));
        };
        head_height_ = left(input.image.height);
        head_width_ = left(input.image.width);
        return Linear(inputs * head_height_ * head_width_, input.classes, layers);
      }()) {}

std::int64_t Cnn::multiply_adds() const {
  std::int64_t sum = head_.weight.numel();
  std::int64_t height = input().image.height, width = input().image.width;
  for (const Stage& stage : stages_) {
    sum += stage.convolution.weight.numel() * height * width;
    height /= 2;
    width /= 2;
  }
  return sum;
}

at::Tensor Cnn::run_stage(std::size_t stage, const at::Tensor& x,
                          const StageContext& context) const {
  at::Tensor a = stages_[stage].convolution(x);
  // Halved first: what follows has a quarter of the work.
  if (stage + 1 < stages_.size()) a = at::max_pool2d(a, 2);
  return at::relu(stages_[stage].norm(a, context));
}

at::Tensor Cnn::pooled(const at::Tensor& x) const {
  const bool fits = x.size(2) == head_height_ && x.size(3) == head_width_;
  return (fits ? x : at::adaptive_avg_pool2d(x, {head_height_, head_width_})).flatten(1);
}

GraphReference Cnn::append_stage(std::size_t stage, GraphBuilder& graph, GraphReference x) const {
  const std::string name = fmt::format("stages.{}", stage);
  GraphReference a = stages_[stage].convolution.append_nodes(name + ".conv", graph, x);
  if (stage + 1 < stages_.size()) a = graph.max_pool(a, {.side = 2, .stride = 2});
  a = stages_[stage].norm.append_nodes(name + ".norm", graph, a);
  return graph.activation("aten::relu", a);
}

GraphReference Cnn::append_pooled(GraphBuilder& graph, GraphReference x) const {
  return graph.flatten(graph.average_pool(x, head_height_, head_width_), 1);
}

std::vector<ModelStage> Cnn::stages() const {
  std::vector<ModelStage> all;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    ModelStage& stage = all.emplace_back(ModelStage{fmt::format("stages.{}", i), {}});
    stages_[i].convolution.append_parameters(stage.name + ".conv", stage.parameters);
    stages_[i].norm.append_parameters(stage.name + ".norm", stage.parameters);
    stages_[i].norm.append_buffers(stage.name + ".norm", stage.buffers);
  }
  head_.append_parameters("head", all.emplace_back(ModelStage{"head", {}}).parameters);
  return all;
}

void Cnn::move_tensors(const at::Device& device) {
  for (Stage& stage : stages_) {
    stage.convolution.to(device);
    stage.norm.to(device);
  }
  head_.to(device);
}

}  // namespace stoker
