#include "stoker/nn/graph/graph_layers.h"

#include <cmath>
#include <limits>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/nn/layers/keyed_dropout.h"
#include "stoker/nn/layers/layers.h"
#include "stoker/nn/layers/running_share.h"
#include "stoker/nn/layers/shared_statistics.h"

namespace stoker {
namespace {

at::Tensor tensor_or_none(const c10::IValue& value) {
  return value.isTensor() ? value.toTensor() : at::Tensor();
}

// By sample, so that it does not matter which rank has it.
at::Tensor factors_like(const at::Tensor& x, std::int64_t samples, double probability, double kept,
                        const DrawKey& key) {
  if (x.dim() == 0 || samples < 1 || x.size(0) % samples != 0) {
    throw Error({.what = "the exported network cannot be trained",
                 .expected = "layers that drop values of each sample",
                 .found = fmt::format("one that drops from {} rows for {} samples",
                                      x.dim() == 0 ? 0 : x.size(0), samples),
                 .hint = "Export it without dropout, e.g. drop_rate=0"});
  }
  return drawn_factors(x.sizes(), samples, probability, static_cast<float>(kept), key)
      .to(x.options());
}

}  // namespace

at::Tensor graph_batch_norm(const GraphCall& call, const GraphValues& values, bool training) {
  const auto argument = [&](const char* name) { return call.argument(name, values); };
  const at::Tensor x = argument("input").toTensor();
  const at::Tensor weight = tensor_or_none(argument("weight")),
                   bias = tensor_or_none(argument("bias")),
                   mean = tensor_or_none(argument("running_mean")),
                   variance = tensor_or_none(argument("running_var"));
  const double momentum = RunningShare::or_usual(argument("momentum").toDouble());
  const double epsilon = argument("eps").toDouble();
  const bool trained = training && argument("training").toBool();
  if (trained && SharedStatistics::active()) {
    if (!weight.defined() || !bias.defined() || !mean.defined() || x.dim() != 4) {
      throw Error({.what = "this network cannot share batch statistics among ranks",
                   .expected = "batch norms of images with weights and running statistics",
                   .found = "another",
                   .hint = "Switch `sync_bn` off"});
    }
    return normalised_by_all_ranks(x, {weight, bias, mean, variance, momentum, epsilon});
  }
  if (trained) check_norm_batch(x);
  return at::batch_norm(x, weight, bias, mean, variance, trained || !mean.defined(), momentum,
                        epsilon, /*cudnn_enabled=*/true);
}

at::Tensor graph_dropout(const GraphCall& call, const GraphValues& values, std::int64_t samples,
                         const std::optional<DrawKey>& key) {
  at::Tensor x = call.argument(std::size_t{0}, values).toTensor();
  const double probability = call.argument("p", values).toDouble();
  if (!key || probability <= 0 || !call.argument("train", values).toBool()) return x;
  if (probability >= 1) return x * 0;
  return x * factors_like(x, samples, probability, 1 / (1 - probability), *key);
}

at::Tensor graph_attention(const GraphCall& call, const GraphValues& values, std::int64_t samples,
                           const std::optional<DrawKey>& key) {
  const auto argument = [&](const char* name) { return call.argument(name, values); };
  const at::Tensor query = argument("query").toTensor(), keys = argument("key").toTensor(),
                   value = argument("value").toTensor();
  const at::Tensor mask = tensor_or_none(argument("attn_mask"));
  const double probability = argument("dropout_p").toDouble();
  const c10::IValue given = argument("scale");
  const std::optional<double> scale =
      given.isDouble() ? std::optional(given.toDouble()) : std::nullopt;
  const bool causal = argument("is_causal").toBool(), grouped = argument("enable_gqa").toBool();
  if (!key || probability <= 0) {
    const std::optional<at::Tensor> any_mask = mask.defined() ? std::optional(mask) : std::nullopt;
    return at::scaled_dot_product_attention(query, keys, value, any_mask, 0, causal, scale,
                                            grouped);
  }
  if (causal || grouped || probability >= 1) {
    throw Error({.what = "the exported network cannot be trained",
                 .expected = "attention with dropout below 1, not causal, without groups",
                 .found = "another",
                 .hint = "Export it without dropout of attention, e.g. attn_drop_rate=0"});
  }
  at::Tensor weights =
      at::matmul(query * scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1)))),
                 keys.transpose(-2, -1));
  if (mask.defined()) {
    weights = mask.scalar_type() == at::kBool
                  ? weights.masked_fill(mask.logical_not(), -std::numeric_limits<float>::infinity())
                  : weights + mask;
  }
  weights = weights.softmax(-1);
  weights = weights * factors_like(weights, samples, probability, 1 / (1 - probability), *key);
  return at::matmul(weights, value);
}

at::Tensor graph_draw(const GraphCall& call, const GraphValues& values, std::int64_t samples,
                      const DrawKey& key) {
  const at::Tensor self = call.argument("self", values).toTensor();
  const double kept = call.argument("p", values).toDouble();
  return self.copy_(factors_like(self, samples, 1 - kept, 1, key));
}

}  // namespace stoker
