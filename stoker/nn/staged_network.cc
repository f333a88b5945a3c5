#include "stoker/nn/staged_network.h"

#include <ATen/core/grad_mode.h>

#include "stoker/nn/graph/graph_builder.h"

namespace stoker {

at::Tensor StagedNetwork::run_body(const at::Tensor& x, const StageContext& context) const {
  const bool trains = context.training && at::GradMode::is_enabled();
  at::Tensor a = x;
  for (std::size_t stage = 0; stage < body_stages(); ++stage) {
    const bool learns = context.training && stage >= frozen();
    const at::AutoGradMode stage_grad(learns && trains);
    StageContext of_stage{.training = learns || (context.training && trains_frozen_norms())};
    if (learns) of_stage.draw_key = context.draw_key;
    a = run_stage(stage, a, of_stage);
  }
  return a;
}

GraphReference StagedNetwork::append_features(GraphBuilder& graph, GraphReference x) const {
  GraphReference a = x;
  for (std::size_t stage = 0; stage < body_stages(); ++stage) a = append_stage(stage, graph, a);
  return append_pooled(graph, a);
}

}  // namespace stoker
