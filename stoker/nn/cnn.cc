#include "stoker/nn/cnn.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

constexpr std::int64_t kSide = 3;
constexpr std::int64_t kMaxHeadSide = 7;

// Each stage but the last halves the picture, which must not vanish.
void check_channels(const std::vector<std::int64_t>& channels, const ImageShape& image) {
  const int least = std::min(image.height, image.width);
  bool fits = !channels.empty() && channels.size() <= 20 && least >> (channels.size() - 1) >= 1;
  for (const std::int64_t count : channels) fits = fits && count >= 1 && count <= 1 << 16;
  if (fits) return;
  throw Error({.what = "cannot make this convolutional network",
               .expected = fmt::format("channels of 1 to 65536 for each stage, and no more stages "
                                       "than {} can be halved for",
                                       shape_text(image)),
               .found = fmt::format("{} stages", channels.size()),
               .hint = "For example cnn:small or cnn:16,32,64"});
}

}  // namespace

Cnn::Cnn(const std::string& architecture, const std::vector<std::int64_t>& channels,
         const ModelInput& input, std::uint64_t seed)
    : AutogradModel(architecture, input), head_([&] {
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

at::Tensor Cnn::logits(const at::Tensor& x, bool training) const {
  at::Tensor a = x;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    a = stages_[i].convolution(a);
    // Halved first: what follows has a quarter of the work.
    if (i + 1 < stages_.size()) a = at::max_pool2d(a, 2);
    a = at::relu(stages_[i].norm(a, training));
  }
  if (a.size(2) != head_height_ || a.size(3) != head_width_) {
    a = at::adaptive_avg_pool2d(a, {head_height_, head_width_});
  }
  return head_(a.flatten(1));
}

std::vector<NamedTensor> Cnn::parameters() const {
  std::vector<NamedTensor> named;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    stages_[i].convolution.append_parameters(fmt::format("stages.{}.conv", i), named);
    stages_[i].norm.append_parameters(fmt::format("stages.{}.norm", i), named);
  }
  head_.append_parameters("head", named);
  return named;
}

std::vector<NamedTensor> Cnn::buffers() const {
  std::vector<NamedTensor> named;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    stages_[i].norm.append_buffers(fmt::format("stages.{}.norm", i), named);
  }
  return named;
}

void Cnn::move_tensors(const at::Device& device) {
  for (Stage& stage : stages_) {
    stage.convolution.to(device);
    stage.norm.to(device);
  }
  head_.to(device);
}

}  // namespace stoker
