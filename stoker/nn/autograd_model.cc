#include "stoker/nn/autograd_model.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/nn/graph/graph_builder.h"
#include "stoker/nn/layers/autocast.h"
#include "stoker/nn/layers/keyed_dropout.h"
#include "stoker/nn/loss.h"
#include "stoker/nn/target_loss.h"

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
  const at::MemoryFormat format = memory_format();
  if (image.channels > 1 || format == at::MemoryFormat::Contiguous) return x.contiguous(format);
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
  const Autocast autocast(device(), precision());
  return pool_map(run_body(prepared(x), {}), {}).to(at::kFloat);
}

at::Tensor AutogradModel::forward_head(const at::Tensor& features) const {
  check_features(features);
  const at::NoGradGuard no_grad;
  const Autocast autocast(device(), precision());
  return head()(features).to(at::kFloat);
}

Model::Pass AutogradModel::backward(const at::Tensor& x, const at::Tensor& labels,
                                    const LossOptions& options) {
  at::Tensor features;
  {
    const at::AutoGradMode grad(true);
    const Autocast autocast(device(), precision());
    const StageContext context{.training = true, .draw_key = options.draw};
    features = pool_map(run_body(prepared(x), context), context);
  }
  return backward_head(features, labels, options);
}

void AutogradModel::note_statistics(const at::Tensor& x, const std::optional<DrawKey>& draw) {
  const at::NoGradGuard no_grad;
  const Autocast autocast(device(), precision());
  const StageContext context{.training = true, .draw_key = draw};
  static_cast<void>(pool_map(run_body(prepared(x), context), context));
}

at::Tensor AutogradModel::head_outputs(const at::Tensor& features,
                                       const std::optional<DrawKey>& draw) const {
  const Autocast autocast(device(), precision());
  const bool drops = dropout() > 0 && draw;
  return head()(drops ? dropped(features, features.size(0), dropout(), *draw) : features)
      .to(at::kFloat);
}

Model::Pass AutogradModel::backward_head(const at::Tensor& features, const at::Tensor& labels,
                                         const LossOptions& options) {
  check_features(features);
  const at::AutoGradMode grad(true);
  const at::Tensor outputs = head_outputs(features, options.draw);
  const at::Tensor loss = labels.is_floating_point()
                              ? mean_target_loss(outputs, labels, options)
                              : mean_class_loss(*this, {outputs, outputs}, labels, options);
  if (options.forward_done) options.forward_done();
  (options.weight == 1 ? loss : loss * options.weight).backward();
  return {.logits = outputs.detach(), .loss = loss.detach()};
}

std::vector<at::Tensor> AutogradModel::activation_maps(const at::Tensor& x) const {
  const at::NoGradGuard no_grad;
  const Autocast autocast(device(), precision());
  return {run_body(x, {}).to(at::kFloat).contiguous().requires_grad_(true)};
}

// What each place of the map adds to the class's output. For a head behind a mean over the map that
// is Grad-CAM; for one that sees places apart, slopes must not be averaged (HiResCAM). Of several
// maps, those that add much count much.
at::Tensor AutogradModel::class_activation(const at::Tensor& x, const at::Tensor& classes) const {
  const std::vector<at::Tensor> maps = activation_maps(prepared(x));
  const MapLayout layout = map_layout();
  if (maps.back().dim() != (layout.rows > 0 ? 3 : 4)) return Model::class_activation(x, classes);
  const at::AutoGradMode grad(true);
  for (const at::Tensor& map : maps) map.retain_grad();
  // A copy: the next operator may work in place.
  const at::Tensor outputs = head()(pool_map(maps.back().clone(), {}));
  const std::vector<at::Tensor> only_the_maps = {maps.front()};
  outputs.gather(1, classes.unsqueeze(1))
      .sum()
      .backward({}, /*retain_graph=*/false, /*create_graph=*/false, at::TensorList(only_the_maps));
  const at::NoGradGuard no_grad;
  at::Tensor heat = at::zeros({1}, maps.back().options());
  for (const at::Tensor& map : maps) {
    heat = heat + (map.detach() * map.grad()).sum(layout.channels).relu();
  }
  if (layout.rows > 0) {
    heat = heat.narrow(1, layout.first_token, layout.rows * layout.columns)
               .reshape({-1, layout.rows, layout.columns});
  }
  return heat / heat.amax({1, 2}, /*keepdim=*/true).clamp_min(1e-12);
}

GraphReference AutogradModel::append_nodes(GraphBuilder& graph, GraphReference x) const {
  const at::Tensor& weight = head().weight;
  return graph.linear(stages().back().name, append_features(graph, x), weight.size(1),
                      weight.size(0), {});
}

}  // namespace stoker
