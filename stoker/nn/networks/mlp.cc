#include "stoker/nn/networks/mlp.h"

#include <algorithm>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/nn/graph/graph_builder.h"
#include "stoker/nn/loss.h"
#include "stoker/nn/target_loss.h"

namespace stoker {
namespace {

std::string architecture_of(const LayerSizes& sizes, Activation activation,
                            OutputActivation output) {
  const char* hidden = activation == Activation::kRelu ? ":relu" : ":sigmoid";
  const bool plain = output == OutputActivation::kSoftmax;
  return fmt::format("mlp:{}{}{}", fmt::join(sizes, ","),
                     plain && activation == Activation::kSigmoid ? "" : hidden,
                     plain ? "" : ":sigmoid");
}

ModelInput row_input(const LayerSizes& sizes) {
  check_layer_sizes(sizes);
  return {.image = {.height = 1, .width = static_cast<int>(sizes.front()), .channels = 1},
          .classes = sizes.back()};
}

void check_fits(const LayerSizes& sizes, const ModelInput& input) {
  check_layer_sizes(sizes);
  LayerSizes fitting = sizes;
  fitting.front() = static_cast<std::int64_t>(input.image.bytes());
  fitting.back() = input.classes;
  if (fitting == sizes) return;
  throw Error({.what = "the network does not fit the data",
               .expected = fmt::format("{} values a sample ({}) and {} classes", fitting.front(),
                                       shape_text(input.image), input.classes),
               .found = fmt::format("the sizes {}", fmt::join(sizes, ",")),
               .hint = fmt::format("Write mlp:{}", fmt::join(fitting, ","))});
}

void add_gradient(at::Tensor& parameter, at::Tensor gradient) {
  at::Tensor& sum = parameter.mutable_grad();
  if (sum.defined()) {
    sum.add_(gradient);
  } else {
    sum = std::move(gradient);
  }
}

// Rows times their samples' weights, in place, if there are any.
at::Tensor weighted_rows(const at::Tensor& rows, const at::Tensor& weights) {
  return weights.defined() ? rows.mul_(weights.unsqueeze(1)) : rows;
}

// The classes' targets, whose rows count with the samples' weights and whose columns count with the
// classes'.
at::Tensor weighted_target(const at::Tensor& labels, const at::Tensor& logits,
                           const LossOptions& options) {
  at::Tensor target =
      weighted_rows(smoothed_onehot(labels, logits, options.smoothing), options.sample_weights);
  if (options.partner_labels.defined()) {
    check_partner_weights(options);
    target.mul_(options.own_share)
        .add_(weighted_rows(smoothed_onehot(options.partner_labels, logits, options.smoothing),
                            options.partner_weights),
              1 - options.own_share);
  }
  if (options.class_weights.defined()) target.mul_(options.class_weights);
  return target;
}

// A rank may have no sample in a short batch.
double sample_count(const at::Tensor& labels) {
  return static_cast<double>(std::max<std::int64_t>(1, labels.size(0)));
}

}  // namespace

Mlp::Mlp(const LayerSizes& sizes, Activation activation, std::uint64_t seed,
         OutputActivation output)
    : Mlp(sizes, activation, seed, row_input(sizes), output) {}

Mlp::Mlp(const LayerSizes& sizes, Activation activation, std::uint64_t seed,
         const ModelInput& input, OutputActivation output)
    : Model(architecture_of(sizes, activation, output), input),
      sizes_(sizes),
      activation_(activation),
      output_(output) {
  check_fits(sizes_, input);
  layers_ = {random_weights(sizes_, seed), zeros_biases(sizes_)};
}

std::int64_t Mlp::multiply_adds() const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i + 1 < sizes_.size(); ++i) sum += sizes_[i] * sizes_[i + 1];
  return sum;
}

std::vector<ModelStage> Mlp::stages() const {
  std::vector<ModelStage> all;
  for (std::size_t i = 0; i < layers_.weights.size(); ++i) {
    const std::string name = fmt::format("layers.{}", i);
    all.push_back(
        {name, {{name + ".weight", layers_.weights[i]}, {name + ".bias", layers_.biases[i]}}});
  }
  return all;
}

void Mlp::move_tensors(const at::Device& device) {
  for (at::Tensor& weight : layers_.weights) weight = weight.to(device);
  for (at::Tensor& bias : layers_.biases) bias = bias.to(device);
}

at::Tensor Mlp::activate(const at::Tensor& z) const {
  return activation_ == Activation::kSigmoid ? stoker::sigmoid(z) : at::relu(z);
}

at::Tensor Mlp::activate_prime(const at::Tensor& z, const at::Tensor& a) const {
  return activation_ == Activation::kSigmoid ? sigmoid_prime(z) : (a > 0).to(a.dtype());
}

at::Tensor Mlp::flattened(const at::Tensor& x) const {
  check_same_device(device(), x.device());
  at::Tensor rows = x.flatten(1);
  if (rows.size(1) == sizes_.front()) return rows;
  throw Error({.what = "the network does not fit the data",
               .expected = fmt::format("{} values a sample, its first layer", sizes_.front()),
               .found = fmt::format("{}", rows.size(1)),
               .hint = fmt::format("Begin the sizes with {}", rows.size(1))});
}

at::Tensor Mlp::features(const at::Tensor& x) const {
  at::Tensor a = flattened(x);
  for (std::size_t i = 0; i + 1 < layers_.weights.size(); ++i) {
    a = activate(at::addmm(layers_.biases[i], a, layers_.weights[i]));
  }
  return a;
}

at::Tensor Mlp::logits_of(const at::Tensor& z) const {
  return output_ == OutputActivation::kSigmoid ? at::log_sigmoid(z) : z;
}

at::Tensor Mlp::activated(const at::Tensor& logits) const {
  return output_ == OutputActivation::kSigmoid ? logits.exp() : Model::activated(logits);
}

at::Tensor Mlp::class_scores(const at::Tensor& logits) const {
  if (output_ == OutputActivation::kSoftmax) return logits;
  // z of l = log σ(z) is l - log(1 - e^l). Where σ(z) is 1 in float32, z is not known any more.
  constexpr double kLargest = 104;
  return (logits - logits.expm1().neg().log()).clamp_max(kLargest);
}

at::Tensor Mlp::forward_head(const at::Tensor& features) const {
  return logits_of(at::addmm(layers_.biases.back(), features, layers_.weights.back()));
}

at::Tensor Mlp::forward(const at::Tensor& x) const { return forward_head(features(x)); }

void Mlp::add_layer_gradient(std::size_t layer, const at::Tensor& inputs, const at::Tensor& d) {
  add_gradient(layers_.weights[layer], inputs.t().mm(d));
  add_gradient(layers_.biases[layer], d.sum(0));
}

// The sum over the batch's samples, by z: with a sigmoid output (a - y) σ'(z), with a softmax
// s_i = a_i (e_i - sum_j e_j a_j) for e = a - y.
at::Tensor Mlp::squared_error_slope_by_z(const at::Tensor& z, const at::Tensor& a,
                                         const at::Tensor& labels,
                                         const LossOptions& options) const {
  at::Tensor slope = weighted_rows(squared_error_slope(a, labels, options), options.sample_weights);
  if (options.partner_labels.defined()) {
    slope.mul_(options.own_share)
        .add_(weighted_rows(squared_error_slope(a, options.partner_labels, options),
                            options.partner_weights),
              1 - options.own_share);
  }
  if (output_ == OutputActivation::kSigmoid) return slope.mul_(sigmoid_prime(z));
  return slope.sub_((slope * a).sum(1, /*keepdim=*/true)).mul_(a);
}

// Autograd finds the slope by the last layer's z; the layers before it are written out.
Mlp::LossAndSlope Mlp::target_loss_of(const at::Tensor& z, const at::Tensor& targets,
                                      const LossOptions& options) const {
  if (output_ == OutputActivation::kSigmoid) {
    throw OptionError({.what = "a perceptron with a sigmoid output only classifies",
                       .expected = "outputs without an activation: the loss has its own",
                       .found = architecture(),
                       .hint = "Remove the last \":sigmoid\" of `model`"});
  }
  const at::AutoGradMode grad(true);
  const at::Tensor outputs = z.detach().requires_grad_(true);
  const at::Tensor loss = mean_target_loss(outputs, targets, options);
  loss.backward();
  return {.logits = z, .loss = loss.detach(), .slope = outputs.grad().mul_(options.weight)};
}

// The same where labels are classes.
Mlp::LossAndSlope Mlp::class_loss_of(const at::Tensor& z, const at::Tensor& labels,
                                     const LossOptions& options) const {
  const at::AutoGradMode grad(true);
  const at::Tensor scores = z.detach().requires_grad_(true);
  const at::Tensor logits = logits_of(scores);
  const at::Tensor loss = mean_class_loss(*this, {logits, scores}, labels, options);
  loss.backward();
  return {.logits = logits.detach(),
          .loss = loss.detach(),
          .slope = scores.grad().mul_(options.weight)};
}

// With a target t for each of n samples (onehot, smoothed, mixed, its columns times the classes'
// weights), the cross entropy's slope by the logits is (softmax(logits) * sum(t) - t) / n.
Mlp::LossAndSlope Mlp::loss_of(const at::Tensor& z, const at::Tensor& labels,
                               const LossOptions& options) const {
  if (labels.is_floating_point()) return target_loss_of(z, labels, options);
  check_loss(Task::kClassify, options.kind);
  if (options.kind == LossKind::kBinaryCrossEntropy || options.teacher_logits.defined()) {
    return class_loss_of(z, labels, options);
  }
  const double samples = sample_count(labels), scale = options.weight / samples;
  const bool sigmoid_output = output_ == OutputActivation::kSigmoid;
  const at::Tensor logits = logits_of(z);
  if (options.kind == LossKind::kSquaredError) {
    const at::Tensor a = sigmoid_output ? stoker::sigmoid(z) : z.softmax(1);
    at::Tensor loss = mixed_loss(labels, options, [&](const auto& classes, const auto& weights) {
      const at::Tensor errors = squared_errors(a, classes, options);
      return (weights.defined() ? errors * weights : errors).sum();
    });
    return {.logits = logits,
            .loss = loss.mul_(1 / samples),
            .slope = squared_error_slope_by_z(z, a, labels, options).mul_(scale)};
  }
  const at::Tensor target = weighted_target(labels, logits, options);
  const at::Tensor log_probabilities = logits.log_softmax(1);
  at::Tensor slope = log_probabilities.exp();
  if (options.class_weights.defined() || options.sample_weights.defined()) {
    slope.mul_(target.sum(1, /*keepdim=*/true));
  }
  slope.sub_(target).mul_(scale);
  if (sigmoid_output) slope.mul_(stoker::sigmoid(-z));  // of log σ(z)
  return {.logits = logits,
          .loss = (log_probabilities * target).sum().mul_(-1 / samples),
          .slope = slope};
}

// With z_i = a_i W_i + b_i, a_{i+1} = f(z_i) and d_i = dLoss/dz_i:
//   dLoss/dW_i = a_iᵀ d_i,  dLoss/db_i = sum of d_i over the batch
//   d_{i-1} = (d_i W_iᵀ) * f'(z_{i-1})
Model::Pass Mlp::backward(const at::Tensor& x, const at::Tensor& labels,
                          const LossOptions& options) {
  const std::size_t layers = layers_.weights.size();
  std::vector<at::Tensor> inputs = {flattened(x)}, sums;
  for (std::size_t i = 0; i < layers; ++i) {
    sums.push_back(at::addmm(layers_.biases[i], inputs[i], layers_.weights[i]));
    if (i + 1 < layers) inputs.push_back(activate(sums[i]));
  }
  auto [logits, loss, d] = loss_of(sums.back(), labels, options);
  if (options.forward_done) options.forward_done();
  for (std::size_t i = layers; i-- > frozen();) {
    add_layer_gradient(i, inputs[i], d);
    if (i > frozen()) {
      d = d.mm(layers_.weights[i].t()).mul_(activate_prime(sums[i - 1], inputs[i]));
    }
  }
  return {.logits = logits, .loss = loss};
}

Model::Pass Mlp::backward_head(const at::Tensor& features, const at::Tensor& labels,
                               const LossOptions& options) {
  const auto [logits, loss, d] =
      loss_of(at::addmm(layers_.biases.back(), features, layers_.weights.back()), labels, options);
  if (options.forward_done) options.forward_done();
  add_layer_gradient(layers_.weights.size() - 1, features, d);
  return {.logits = logits, .loss = loss};
}

GraphReference Mlp::append_nodes(GraphBuilder& graph, GraphReference x) const {
  GraphReference a = graph.flatten(x, 1);
  const std::size_t layers = layers_.weights.size();
  for (std::size_t i = 0; i < layers; ++i) {
    const std::string name = fmt::format("layers.{}", i);
    const GraphReference weight = graph.parameter(name + ".weight", {}),
                         bias = graph.parameter(name + ".bias", {});
    a = graph.call("aten::addmm", {{"self", bias}, {"mat1", a}, {"mat2", weight}});
    if (i + 1 == layers) break;
    a = graph.activation(activation_ == Activation::kSigmoid ? "aten::sigmoid" : "aten::relu", a);
  }
  if (output_ == OutputActivation::kSoftmax) return a;
  // log σ(z), safe for large numbers
  return graph.activation("aten::neg",
                          graph.activation("aten::softplus", graph.activation("aten::neg", a)));
}

}  // namespace stoker
