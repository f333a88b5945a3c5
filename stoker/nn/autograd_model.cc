#include "stoker/nn/autograd_model.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"

namespace stoker {

at::Tensor AutogradModel::prepared(const at::Tensor& x) const {
  check_same_device(device(), x.device());
  const ImageShape& image = input().image;
  if (x.dim() != 4 || x.size(1) != image.channels) {
    throw Error({.what = "the network does not fit the data",
                 .expected = fmt::format("(samples, {}, {}, {})", image.channels, image.height,
                                         image.width),
                 .found = fmt::format("({})", fmt::join(x.sizes(), ", "))});
  }
  if (image.channels > 1) return x.contiguous(at::MemoryFormat::ChannelsLast);
  // With one channel both orders are the same bytes, and LibTorch would take the slow kernels for
  // the other one: strides that say which is meant.
  const at::Tensor rows = x.contiguous();
  return rows.as_strided(rows.sizes(), {rows.size(2) * rows.size(3), 1, rows.size(3), 1});
}

void AutogradModel::freeze(std::size_t count) {
  Model::freeze(count);
  const std::vector<ModelStage> all = stages();
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const NamedTensor& parameter : all[i].parameters) {
      parameter.tensor.requires_grad_(i >= count);
    }
  }
}

at::Tensor AutogradModel::run_body(const at::Tensor& x, bool training) const {
  const at::AutoGradMode grad(training);
  at::Tensor a = x;
  for (std::size_t stage = 0; stage < body_stages(); ++stage) {
    const bool learns = training && stage >= frozen();
    const at::AutoGradMode stage_grad(learns);
    a = run_stage(stage, a, learns);
  }
  return pooled(a);
}

void AutogradModel::check_features(const at::Tensor& features) const {
  check_same_device(device(), features.device());
  const std::int64_t expected = head().weight.size(1);
  if (features.dim() == 2 && features.size(1) == expected) return;
  throw Error({.what = "these are not features of this network",
               .expected = fmt::format("(samples, {})", expected),
               .found = fmt::format("({})", fmt::join(features.sizes(), ", "))});
}

at::Tensor AutogradModel::forward(const at::Tensor& x) const { return forward_head(features(x)); }

at::Tensor AutogradModel::features(const at::Tensor& x) const {
  const at::NoGradGuard no_grad;
  return run_body(prepared(x), false);
}

at::Tensor AutogradModel::forward_head(const at::Tensor& features) const {
  check_features(features);
  const at::NoGradGuard no_grad;
  return head()(features);
}

Model::Pass AutogradModel::backward(const at::Tensor& x, const at::Tensor& labels,
                                    const LossOptions& options) {
  return backward_head(run_body(prepared(x), true), labels, options);
}

Model::Pass AutogradModel::backward_head(const at::Tensor& features, const at::Tensor& labels,
                                         const LossOptions& options) {
  check_features(features);
  const at::AutoGradMode grad(true);
  const bool drops = dropout() > 0 && options.draw;
  const at::Tensor outputs = head()(drops ? dropped(features, dropout(), *options.draw) : features);
  const auto against = [&](const at::Tensor& wanted) {
    return at::cross_entropy_loss(outputs, wanted, {}, at::Reduction::Mean, /*ignore_index=*/-100,
                                  options.smoothing);
  };
  at::Tensor loss = against(labels);
  if (options.partner_labels.defined()) {
    loss = loss * options.own_share + against(options.partner_labels) * (1 - options.own_share);
  }
  (options.weight == 1 ? loss : loss * options.weight).backward();
  return {.logits = outputs.detach(), .loss = loss.detach()};
}

}  // namespace stoker
