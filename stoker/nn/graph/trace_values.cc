#include "stoker/nn/graph/trace_values.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/nn/graph/bounded_memory.h"
#include "stoker/nn/graph/graph_executor.h"
#include "stoker/nn/graph/graph_nodes.h"

namespace stoker {
namespace {

constexpr std::int64_t kFewer = 2, kMore = 3;  // images

[[noreturn]] void refuse_trace(std::string expected, std::string found) {
  throw Error({.what = "cannot export the network",
               .expected = std::move(expected),
               .found = std::move(found)});
}

// Of one run.
struct Seen {
  bool is_tensor = false;
  at::ScalarType type = at::kFloat;
  std::vector<std::int64_t> sizes, strides;
  std::int64_t number = 0;
  at::Tensor constant;
};

class TraceRun {
 public:
  TraceRun(const InferenceGraph& network, const ImageShape& image)
      : network_(network),
        image_(image),
        executor_(network.graph, std::vector<std::size_t>(network.graph.nodes.size(), 0),
                  "the network"),
        depends_(find_dependent(network.graph)),
        wanted_(find_wanted()) {}

  [[nodiscard]] std::vector<Seen> run(std::int64_t images) const {
    const ExportedGraph& graph = network_.graph;
    GraphValues values(graph.values.size());
    std::vector<Seen> seen(graph.values.size());
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      const GraphInput& input = graph.inputs[i];
      const bool pixels = input.kind == GraphInput::Kind::kImages;
      const at::Tensor tensor =
          pixels ? at::zeros({images, image_.channels, image_.height, image_.width})
                 : network_.tensors[i];
      values[input.value.value] = tensor;
      note(values, input.value, seen);
    }
    for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
      executor_.run(values, node, node + 1, {.samples = images});
      for (const GraphOutput& output : graph.nodes[node].outputs) {
        for (const GraphReference& value : output.values) note(values, value, seen);
      }
    }
    return seen;
  }

  [[nodiscard]] bool depends_on_images(std::size_t value) const { return depends_[value]; }

 private:
  static std::vector<bool> find_dependent(const ExportedGraph& graph) {
    std::vector<bool> depends(graph.values.size(), false);
    for (const GraphInput& input : graph.inputs) {
      if (input.kind == GraphInput::Kind::kImages) depends[input.value.value] = true;
    }
    for (const GraphNode& node : graph.nodes) {
      bool found = false;
      visit_references(node, [&](GraphReference value) { found = found || depends[value.value]; });
      for (const GraphOutput& output : node.outputs) {
        for (const GraphReference& value : output.values) {
          // Sizes are not what the images show.
          depends[value.value] = found && graph.values[value.value].is_tensor;
        }
      }
    }
    return depends;
  }

  // Constants of the nodes that depend on images.
  [[nodiscard]] std::vector<bool> find_wanted() const {
    std::vector<bool> wanted(network_.graph.values.size(), false);
    for (const GraphNode& node : network_.graph.nodes) {
      const bool later =
          any_output(node, [&](GraphReference value) { return depends_[value.value]; });
      if (!later) continue;
      visit_references(node, [&](GraphReference value) {
        wanted[value.value] =
            !depends_[value.value] && network_.graph.values[value.value].is_tensor;
      });
    }
    for (const GraphInput& input : network_.graph.inputs) wanted[input.value.value] = false;
    return wanted;
  }

  void note(const GraphValues& values, GraphReference value, std::vector<Seen>& seen) const {
    const c10::IValue& made = values[value.value];
    Seen& one = seen[value.value];
    if (made.isInt()) one.number = made.toInt();
    if (!made.isTensor()) return;
    const at::Tensor& tensor = made.toTensor();
    one.is_tensor = true;
    one.type = tensor.scalar_type();
    one.sizes = tensor.sizes().vec();
    one.strides = tensor.strides().vec();
    if (wanted_[value.value]) one.constant = tensor.detach().clone();
  }

  const InferenceGraph& network_;
  const ImageShape& image_;
  GraphExecutor executor_;
  std::vector<bool> depends_, wanted_;
};

TracedSize size_of(std::int64_t fewer, std::int64_t more) {
  const std::int64_t per_sample = (more - fewer) / (kMore - kFewer);
  return {.fixed = fewer - kFewer * per_sample, .per_sample = per_sample};
}

std::vector<TracedSize> sizes_of(const std::vector<std::int64_t>& fewer,
                                 const std::vector<std::int64_t>& more) {
  if (fewer.size() != more.size()) refuse_trace("tensors of known dimensions", "others");
  std::vector<TracedSize> sizes;
  for (std::size_t i = 0; i < fewer.size(); ++i) sizes.push_back(size_of(fewer[i], more[i]));
  return sizes;
}

// One row where the rows are samples.
at::Tensor constant_of(const Seen& more, const std::vector<TracedSize>& sizes) {
  const auto grows = std::ranges::count_if(sizes, &TracedSize::grows);
  if (grows == 0) return more.constant;
  const at::Tensor row = more.constant.narrow(0, 0, 1);
  const bool same = grows == 1 && sizes[0].grows() &&
                    at::equal(more.constant, row.expand(more.constant.sizes()).contiguous());
  if (!same) refuse_trace("constants that are the same for all samples", "others");
  return row.contiguous();
}

}  // namespace

std::vector<TracedValue> trace_values(const InferenceGraph& network, const ImageShape& image) {
  const at::NoGradGuard no_grad;
  const BoundedMemory bounded(most_trial_bytes());
  const TraceRun trace(network, image);
  std::vector<TracedValue> values;
  try {
    const std::vector<Seen> fewer = trace.run(kFewer), more = trace.run(kMore);
    for (std::size_t i = 0; i < fewer.size(); ++i) {
      TracedValue& value =
          values.emplace_back(TracedValue{.is_tensor = fewer[i].is_tensor,
                                          .type = fewer[i].type,
                                          .sizes = sizes_of(fewer[i].sizes, more[i].sizes),
                                          .strides = sizes_of(fewer[i].strides, more[i].strides),
                                          .number = size_of(fewer[i].number, more[i].number),
                                          .depends_on_images = trace.depends_on_images(i)});
      if (more[i].constant.defined()) value.constant = constant_of(more[i], value.sizes);
    }
  } catch (const c10::Error& error) {
    refuse_trace("a network that LibTorch executes", error.what_without_backtrace());
  }
  return values;
}

}  // namespace stoker
