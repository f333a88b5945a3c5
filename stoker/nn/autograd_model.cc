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

at::Tensor AutogradModel::forward(const at::Tensor& x) const {
  const at::NoGradGuard no_grad;
  return logits(prepared(x), false);
}

Model::Pass AutogradModel::backward(const at::Tensor& x, const at::Tensor& labels,
                                    const LossOptions& options) {
  const at::AutoGradMode grad(true);
  const at::Tensor outputs = logits(prepared(x), true);
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
