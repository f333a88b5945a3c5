// Test program: `graph_mutations COUNT [FIRST]` changes a network's graph at random in COUNT ways,
// numbered from FIRST, and tries each one out as a file's graph is: it must end in an Error, or be
// a network that a step of training can use or refuse. Anything else is a finding: a crash, another
// exception, or more than 30 s. Prints how many were refused.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <random>
#include <string>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <unistd.h>

#include "stoker/core/error.h"
#include "stoker/io/exported_operators.h"
#include "stoker/nn/graph/exported_network.h"
#include "stoker/nn/graph/graph_builder.h"
#include "stoker/nn/graph/graph_nodes.h"

namespace {

using namespace stoker;
using Sizes = std::vector<std::int64_t>;

const ModelInput kInput = {.image = {.height = 12, .width = 12, .channels = 3}, .classes = 4};
constexpr InitialValues kDrawn = {InitialValues::Kind::kNormal, 0.1};

// Convolutions, stochastic depth and attention, with most kinds of arguments.
BuiltGraph whole_graph() {
  GraphBuilder b;
  GraphReference x =
      b.convolution("stem.conv", b.images(),
                    {.inputs = 3, .outputs = 8, .side = 3, .stride = 2, .initial = kDrawn});
  x = b.call("aten::relu_", {{"self", b.batch_norm("stem.norm", x, {.channels = 8})}});
  x = b.call("aten::pad",
             {{"self", x}, {"pad", Sizes{0, 1, 0, 1}}, {"mode", "constant"}, {"value", 0.0}});
  x = b.max_pool(x, {.side = 2, .stride = 1});
  const GraphReference branch =
      b.convolution("stages.0.conv", x,
                    {.inputs = 8, .outputs = 8, .groups = 2, .bias = true, .initial = kDrawn});
  x = b.add(x, b.drop_path(branch, 0.2, 4));
  x = b.permute(b.flatten(x, 2), {0, 2, 1});  // (samples, 36, 8)
  x = b.layer_norm("blocks.0.norm", x, 8, 1e-6);
  const GraphReference qkv = b.permute(b.reshape(b.linear("blocks.0.qkv", x, 8, 24, kDrawn),
                                                 {b.batch_size(), std::int64_t{36}, std::int64_t{3},
                                                  std::int64_t{2}, std::int64_t{4}}),
                                       {2, 0, 3, 1, 4});
  const auto parts = b.call_list("aten::unbind.int", {{"self", qkv}}, 3);
  GraphReference a = b.call("aten::scaled_dot_product_attention", {{"query", parts[0]},
                                                                   {"key", parts[1]},
                                                                   {"value", parts[2]},
                                                                   {"attn_mask", GraphNone{}},
                                                                   {"dropout_p", 0.1}});
  a = b.reshape(b.call("aten::transpose.int",
                       {{"self", a}, {"dim0", std::int64_t{1}}, {"dim1", std::int64_t{2}}}),
                {b.batch_size(), std::int64_t{36}, std::int64_t{8}});
  x = b.add(x, b.dropout(a, 0.1));
  const GraphReference token = b.call(
      "aten::expand",
      {{"self", b.parameter("token", {.shape = {1, 1, 8}, .initial = kDrawn})},
       {"size", std::vector<GraphSize>{b.batch_size(), std::int64_t{-1}, std::int64_t{-1}}}});
  x = b.call("aten::cat", {{"tensors", std::vector<std::optional<GraphReference>>{token, x}},
                           {"dim", std::int64_t{1}}});
  x = b.call("aten::slice.Tensor",
             {{"self", x}, {"dim", std::int64_t{1}}, {"start", std::int64_t{1}}});
  x = b.call("aten::mean.dim", {{"self", x}, {"dim", Sizes{1}}, {"keepdim", false}});
  x = b.call("aten::gelu", {{"self", x}, {"approximate", "none"}});
  return b.finish(b.linear("head", x, 8, 4, kDrawn));
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t number) : random_(number) {}

  void mutate(BuiltGraph& built) {
    for (std::uint64_t left = 1 + below(3); left > 0; --left) mutate_once(built);
  }

 private:
  std::uint64_t below(std::uint64_t end) { return random_() % end; }

  std::int64_t integer() {
    constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min(),
                           kHigh = std::numeric_limits<std::int64_t>::max();
    const Sizes odd = {0,  -1,      1,       2,         3,         4,     7,    -2,  8, 16, 36,
                       64, 1 << 16, 1 << 20, 1LL << 31, 1LL << 40, kHigh, kLow, -36, 5, 6,  1000};
    return odd[below(odd.size())];
  }
  double number() {
    const std::vector<double> odd = {0,
                                     1,
                                     -1,
                                     0.5,
                                     2,
                                     1e300,
                                     -1e300,
                                     1e-300,
                                     std::numeric_limits<double>::infinity(),
                                     std::numeric_limits<double>::quiet_NaN()};
    return odd[below(odd.size())];
  }
  // Any value made before the node.
  GraphReference earlier(const BuiltGraph& built, std::size_t node) {
    std::vector<GraphReference> known;
    for (const GraphInput& input : built.graph.inputs) known.push_back(input.value);
    for (std::size_t i = 0; i < node; ++i) {
      for (const GraphOutput& output : built.graph.nodes[i].outputs) {
        known.insert(known.end(), output.values.begin(), output.values.end());
      }
    }
    return known[below(known.size())];
  }

  void change(GraphArgument& argument, const BuiltGraph& built, std::size_t node) {
    if (auto* value = std::get_if<GraphReference>(&argument)) *value = earlier(built, node);
    if (auto* value = std::get_if<bool>(&argument)) *value = !*value;
    if (auto* value = std::get_if<std::int64_t>(&argument)) *value = integer();
    if (auto* value = std::get_if<double>(&argument)) *value = number();
    if (auto* list = std::get_if<Sizes>(&argument)) {
      if (list->empty() || below(4) == 0) {
        list->push_back(integer());
      } else if (below(4) == 0) {
        list->pop_back();
      } else {
        (*list)[below(list->size())] = integer();
      }
    }
    if (auto* list = std::get_if<std::vector<GraphSize>>(&argument);
        list != nullptr && !list->empty()) {
      (*list)[below(list->size())] = integer();
    }
    using Tensors = std::vector<std::optional<GraphReference>>;
    if (auto* list = std::get_if<Tensors>(&argument); list != nullptr && !list->empty()) {
      auto& one = (*list)[below(list->size())];
      one = below(3) == 0 ? std::nullopt : std::optional(earlier(built, node));
    }
  }

  void mutate_once(BuiltGraph& built) {
    const std::size_t place = below(built.graph.nodes.size());
    GraphNode& node = built.graph.nodes[place];
    const std::uint64_t kind = below(10);
    if (kind == 0) {
      const auto all = exported_operators();
      node.target = std::string(all[below(all.size())]);
    } else if (kind == 1 && !node.arguments.empty()) {
      node.arguments.erase(node.arguments.begin() +
                           static_cast<std::ptrdiff_t>(below(node.arguments.size())));
    } else if (kind == 2 && !node.arguments.empty()) {
      node.arguments[below(node.arguments.size())].value =
          below(2) == 0 ? GraphArgument(integer()) : GraphArgument(Sizes{integer(), integer()});
    } else if (kind == 3) {
      const std::size_t tensor = 1 + below(built.tensors.size() - 1);  // the first are the images
      Sizes& shape = built.tensors[tensor].shape;
      if (shape.empty() || below(3) == 0) shape.push_back(static_cast<std::int64_t>(below(9)));
      shape[below(shape.size())] = static_cast<std::int64_t>(below(40));
      if (below(3) == 0) built.tensors[tensor] = {.shape = shape, .dtype = DType::kI64};
    } else if (!node.arguments.empty()) {
      change(node.arguments[below(node.arguments.size())].value, built, place);
    }
  }

  std::mt19937_64 random_;
};

volatile std::uint64_t current = 0;

void report_and_end(int signal) {
  char text[64];
  std::uint64_t number = current;
  int at = sizeof(text);
  text[--at] = '\n';
  do text[--at] = static_cast<char>('0' + number % 10), number /= 10;
  while (number > 0);
  const char prefix[] = "graph_mutations: signal at number ";
  (void)!write(2, prefix, sizeof(prefix) - 1);
  (void)!write(2, text + at, sizeof(text) - static_cast<std::size_t>(at));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

enum class End { kRefused, kRefusedInTraining, kTrained };

End try_one(std::uint64_t number) {
  BuiltGraph built = whole_graph();
  if (number > 0) Mutator(number).mutate(built);
  std::unique_ptr<Model> model;
  try {
    model = make_built_network("mutant", std::move(built), kInput, 1);
  } catch (const Error&) {
    return End::kRefused;
  }
  try {
    const at::Tensor images = at::rand({4, 3, 12, 12});
    (void)model->forward(images);
    (void)model->backward(images, at::zeros({4}, at::kLong), {.draw = DrawKey{.seed = 1}});
  } catch (const std::exception&) {  // LibTorch's too, which a run reports and ends with
    return End::kRefusedInTraining;
  }
  return End::kTrained;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2 && count != 3) {
    std::fputs("usage: graph_mutations COUNT [FIRST]\n", stderr);
    return 2;
  }
  at::set_num_threads(1);
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGALRM})
    std::signal(signal, report_and_end);
  const std::uint64_t first = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 0,
                      end = first + std::strtoull(arguments[1], nullptr, 10);
  std::uint64_t ends[3] = {};
  for (std::uint64_t i = first; i < end; ++i) {
    current = i;
    alarm(30);
    try {
      ++ends[static_cast<std::size_t>(try_one(i))];
    } catch (const std::exception& error) {
      fmt::print(stderr, "graph_mutations: number {} ends in {}\n", i, error.what());
      return 1;
    }
  }
  fmt::print("{} graphs: {} refused, {} refused in training, {} trained\n", end - first, ends[0],
             ends[1], ends[2]);
  return 0;
}
