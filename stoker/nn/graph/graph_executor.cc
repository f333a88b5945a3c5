#include "stoker/nn/graph/graph_executor.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/nn/graph/graph_layers.h"
#include "stoker/nn/graph/graph_nodes.h"

namespace stoker {
namespace {

[[noreturn]] void refuse_node(const std::string& file, std::string expected,
                              const GraphNode& node) {
  throw Error({.what = "the exported network cannot be executed",
               .path = file,
               .expected = std::move(expected),
               .found = fmt::format("{}{}{}", node.target, node.module.empty() ? "" : " in ",
                                    node.module)});
}

bool is_integer(const std::vector<GraphNamedArgument>& arguments, std::string_view name) {
  const GraphArgument* found = find_argument(arguments, name);
  return found != nullptr && (std::holds_alternative<std::int64_t>(*found) ||
                              std::holds_alternative<GraphReference>(*found));
}

std::int64_t integer_now(const std::vector<GraphNamedArgument>& arguments, std::string_view name,
                         const GraphValues& values) {
  const GraphArgument* found = find_argument(arguments, name);
  const auto* whole = found != nullptr ? std::get_if<std::int64_t>(found) : nullptr;
  if (whole != nullptr) return *whole;
  return values[std::get<GraphReference>(*found).value].toInt();
}

// One number for each sample: a file must not ask for memory that only training takes.
bool makes_mask(const GraphNode& node) {
  if (node.target != "aten::new_empty" && node.target != "aten::empty.memory_format") return false;
  const GraphArgument* size = find_argument(node.arguments, "size");
  const auto* sizes = size != nullptr ? std::get_if<std::vector<GraphSize>>(size) : nullptr;
  return sizes != nullptr && !sizes->empty() &&
         std::holds_alternative<GraphReference>(sizes->front()) &&
         std::all_of(sizes->begin() + 1, sizes->end(),
                     [](const GraphSize& one) { return one == GraphSize(std::int64_t{1}); });
}

std::int64_t computed(const std::string& target, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  bool overflow = false;
  if (target == "add") overflow = __builtin_add_overflow(a, b, &result);
  if (target == "sub") overflow = __builtin_sub_overflow(a, b, &result);
  if (target == "mul") overflow = __builtin_mul_overflow(a, b, &result);
  if (target == "floordiv") {
    if (b <= 0 || a < 0) overflow = true;
    if (!overflow) result = a / b;
  }
  if (!overflow) return result;
  throw Error({.what = "the exported network cannot be executed",
               .expected = "sizes that are integers of 64 bits",
               .found = fmt::format("{} of {} and {}", target, a, b)});
}

}  // namespace

GraphExecutor::GraphExecutor(const ExportedGraph& graph, const std::vector<std::size_t>& stages,
                             const std::string& file, std::map<std::size_t, GraphKernel> kernels) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    const auto kernel = kernels.find(i);
    const bool own = kernel != kernels.end();
    steps_.push_back({.action = own ? Action::kKernel : Action::kCall,
                      .kernel = own ? std::move(kernel->second) : GraphKernel(),
                      .target = node.target,
                      .module = node.module,
                      .outputs = node.outputs,
                      .stage = stages[i],
                      .layer = static_cast<std::uint32_t>(i) + 1});
  }
  find_actions(graph, file);
  find_masks(graph, file);
  find_last_uses(graph);
}

void GraphExecutor::find_actions(const ExportedGraph& graph, const std::string& file) {
  std::set<std::uint32_t> buffers, constants;
  for (const GraphInput& input : graph.inputs) {
    if (input.kind == GraphInput::Kind::kBuffer) buffers.insert(input.value.value);
    if (input.kind != GraphInput::Kind::kBuffer) constants.insert(input.value.value);
  }
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    Step& step = steps_[i];
    if (step.action == Action::kKernel) continue;
    if (node.target.starts_with("aten::_assert")) {
      step.action = Action::kNothing;
      continue;
    }
    const bool arithmetic = !node.target.starts_with("aten::");
    if (arithmetic || node.target == "aten::sym_size.int") {
      step.action = arithmetic ? Action::kArithmetic : Action::kSize;
      step.arguments = node.arguments;
      const bool known = arithmetic
                             ? is_integer(node.arguments, "a") && is_integer(node.arguments, "b")
                             : reference_argument(node.arguments, "self").has_value() &&
                                   number_argument(node.arguments, "dim").has_value();
      const bool one = node.outputs.size() == 1 && node.outputs[0].values.size() == 1;
      if (!known || !one) refuse_node(file, "an integer of known arguments", node);
      continue;
    }
    step.call.emplace(node, file);
    if (node.target == "aten::batch_norm") step.action = Action::kBatchNorm;
    if (node.target.starts_with("aten::dropout")) step.action = Action::kDropout;
    if (node.target == "aten::bernoulli_.float") step.action = Action::kDraw;
    if (node.target == "aten::scaled_dot_product_attention" &&
        number_argument(node.arguments, "dropout_p").value_or(0) > 0) {
      step.action = Action::kAttention;
    }
    if (!is_in_place(node.target)) continue;
    const auto self = reference_argument(node.arguments, "self");
    if (self && buffers.contains(self->value)) step.action = Action::kBufferUpdate;
    if (self && constants.contains(self->value)) {
      refuse_node(file, "operators that leave weights and images as they are", node);
    }
  }
}

// Stochastic depth: a mask is made, drawn, divided by the probability and multiplied. In use, the
// product is what would be multiplied, and the rest is nothing.
void GraphExecutor::find_masks(const ExportedGraph& graph, const std::string& file) {
  std::map<std::uint32_t, std::size_t> made_by;  // values to nodes
  std::map<std::uint32_t, double> masks;         // and the probability that they keep
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    Step& step = steps_[i];
    const auto define = [&] {
      for (const GraphOutput& output : node.outputs) {
        for (const GraphReference& value : output.values) made_by[value.value] = i;
      }
    };
    if (step.action == Action::kDraw) {
      const auto self = reference_argument(node.arguments, "self");
      const auto kept = number_argument(node.arguments, "p");
      const auto maker = self ? made_by.find(self->value) : made_by.end();
      const bool known = maker != made_by.end() && kept && *kept > 0 && *kept <= 1 &&
                         makes_mask(graph.nodes[maker->second]);
      if (!known) refuse_node(file, "stochastic depth as timm and torchvision have it", node);
      steps_[maker->second].action = Action::kMask;
      masks[node.outputs.at(0).values.at(0).value] = *kept;
    } else {
      bool uses_mask = false;
      visit_references(node, [&](GraphReference value) {
        uses_mask = uses_mask || masks.contains(value.value);
      });
      if (uses_mask && node.target == "aten::div_.Tensor") {
        const auto self = reference_argument(node.arguments, "self");
        const auto by = number_argument(node.arguments, "other");
        if (!self || !by || *by != masks[self->value]) {
          refuse_node(file, "a mask that is divided by the probability to be kept", node);
        }
        step.action = Action::kMask;
        masks[node.outputs.at(0).values.at(0).value] = *by;
      } else if (uses_mask) {
        const auto self = reference_argument(node.arguments, "self"),
                   other = reference_argument(node.arguments, "other");
        const bool product = node.target == "aten::mul.Tensor" && self && other &&
                             masks.contains(self->value) != masks.contains(other->value);
        if (!product) refuse_node(file, "a mask that is multiplied", node);
        step.action = Action::kMaskedProduct;
        step.other = masks.contains(self->value) ? other : self;
      }
    }
    define();
  }
}

void GraphExecutor::find_last_uses(const ExportedGraph& graph) {
  std::vector<std::size_t> last = last_uses(graph, steps_.size());
  for (const GraphInput& input : graph.inputs) last[input.value.value] = steps_.size();
  last[graph.output.value] = steps_.size();
  for (std::uint32_t value = 0; value < last.size(); ++value) {
    if (last[value] < steps_.size()) steps_[last[value]].dead.push_back({value});
  }
}

void GraphExecutor::put(const Step& step, std::vector<c10::IValue> results, GraphValues& values) {
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    const GraphOutput& output = step.outputs[i];
    if (!output.is_list) {
      if (!output.values.empty()) values[output.values[0].value] = std::move(results[i]);
      continue;
    }
    const c10::List<at::Tensor> list = std::move(results[i]).toTensorList();
    if (list.size() != output.values.size()) {
      throw Error({.what = "the exported network cannot be executed",
                   .expected = fmt::format("{} tensors of {}", output.values.size(), step.target),
                   .found = fmt::format("{}", list.size())});
    }
    for (std::size_t k = 0; k < list.size(); ++k) {
      values[output.values[k].value] = at::Tensor(list[k]);
    }
  }
}

void GraphExecutor::call_operator(const Step& step, GraphValues& values) const {
  put(step, (*step.call)(values), values);
}

void GraphExecutor::execute(const Step& step, GraphValues& values, const GraphMode& mode) const {
  const bool training = mode.first_training != GraphMode::kNone;
  const bool learns = training && step.stage >= mode.first_training;
  const bool draws = learns && mode.draw;
  const auto key = [&]() -> std::optional<DrawKey> {
    if (!draws) return std::nullopt;
    DrawKey own = *mode.draw;
    own.layer = step.layer;
    return own;
  };
  switch (step.action) {
    case Action::kCall:
      return call_operator(step, values);
    case Action::kKernel:
      return put(step, {step.kernel(values)}, values);
    case Action::kNothing:
      return;
    case Action::kSize:
      return put(step,
                 {values[reference_argument(step.arguments, "self")->value].toTensor().size(
                     static_cast<std::int64_t>(*number_argument(step.arguments, "dim")))},
                 values);
    case Action::kArithmetic:
      return put(step,
                 {computed(step.target, integer_now(step.arguments, "a", values),
                           integer_now(step.arguments, "b", values))},
                 values);
    case Action::kBatchNorm:
      return put(
          step,
          {graph_batch_norm(*step.call, values, learns || (training && mode.trains_all_norms))},
          values);
    case Action::kDropout:
      return put(step, {graph_dropout(*step.call, values, mode.samples, key())}, values);
    case Action::kAttention:
      return put(step, {graph_attention(*step.call, values, mode.samples, key())}, values);
    case Action::kDraw:
      if (!draws) return;
      return put(step, {graph_draw(*step.call, values, mode.samples, *key())}, values);
    case Action::kMask:
      if (draws) call_operator(step, values);
      return;
    case Action::kMaskedProduct:
      if (draws) return call_operator(step, values);
      return put(step, {values[step.other->value]}, values);
    case Action::kBufferUpdate: {
      const bool moves = learns || (training && mode.trains_all_norms);
      if (moves) call_operator(step, values);
      return;
    }
  }
}

void GraphExecutor::run(GraphValues& values, std::size_t begin, std::size_t end,
                        const GraphMode& mode) const {
  for (std::size_t i = begin; i < end; ++i) {
    const Step& step = steps_[i];
    try {
      execute(step, values, mode);
    } catch (const Error&) {
      throw;
    } catch (const c10::Error&) {
      throw;
    } catch (const std::exception& error) {  // LibTorch's checks of integers have other types
      throw Error({.what = "the exported network cannot be executed",
                   .expected = fmt::format("arguments that {} takes", step.target),
                   .found = fmt::format("{} in {}", error.what(), step.module)});
    }
    for (const GraphReference& dead : step.dead) values[dead.value] = c10::IValue();
  }
}

void GraphExecutor::to(const at::Device& device) {
  for (Step& step : steps_) {
    if (step.call) step.call->to(device);
  }
}

}  // namespace stoker
