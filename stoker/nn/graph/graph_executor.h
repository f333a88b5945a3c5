// Executes an exported graph: each node is a call through LibTorch's dispatcher, so autograd,
// autocast and every device come with it.
//
// A graph is that of training. In use, batch norms take their running statistics, nothing is
// dropped, and buffers stay as they are. What is drawn at random is a function of a DrawKey, never
// of a generator's state. Values are freed after their last use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stoker/io/exported_program.h"
#include "stoker/nn/graph/graph_call.h"
#include "stoker/nn/model.h"

namespace stoker {

// How one run computes.
struct GraphMode {
  std::int64_t samples = 0;          // images in the batch
  std::optional<DrawKey> draw = {};  // what is dropped; nothing without it
  // Whether stages from this one on are in training: their norms use the batch's statistics and
  // their layers drop. kNone: all are in use.
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t first_training = kNone;
  bool trains_all_norms = false;  // also those of the stages before
};

// Computes a node's only result.
using GraphKernel = std::function<at::Tensor(const GraphValues&)>;

class GraphExecutor {
 public:
  // `stages` has one number for each node. Throws Error, with the operator's name, where LibTorch
  // cannot execute the graph. `kernels`: nodes that are not an operator of LibTorch's.
  GraphExecutor(const ExportedGraph& graph, const std::vector<std::size_t>& stages,
                const std::string& file, std::map<std::size_t, GraphKernel> kernels = {});

  // Executes the nodes from `begin` to before `end`. `values` has those of the inputs and of all
  // nodes before that they use.
  void run(GraphValues& values, std::size_t begin, std::size_t end, const GraphMode& mode) const;

  [[nodiscard]] std::size_t size() const noexcept { return steps_.size(); }
  void to(const at::Device& device);

 private:
  enum class Action : std::uint8_t {
    kCall,
    kKernel,
    kNothing,     // a check that the reader made already
    kSize,        // of a tensor, an integer
    kArithmetic,  // of integers
    kBatchNorm,
    kDropout,
    kAttention,  // that drops
    kDraw,       // bernoulli_: which samples keep a branch (stochastic depth)
    kMask,       // makes what kDraw fills, or divides what it drew
    kMaskedProduct,
    kBufferUpdate  // in training only
  };
  struct Step {
    Action action = Action::kCall;
    std::optional<GraphCall> call = {};
    GraphKernel kernel = {};
    std::string target = {}, module = {};
    std::vector<GraphNamedArgument> arguments = {};  // of kSize and kArithmetic
    std::vector<GraphOutput> outputs = {};
    std::vector<GraphReference> dead = {};     // after this step
    std::optional<GraphReference> other = {};  // of kMaskedProduct: what is multiplied
    std::size_t stage = 0;
    std::uint32_t layer = 0;  // number among those that draw
  };

  void find_actions(const ExportedGraph& graph, const std::string& file);
  void find_masks(const ExportedGraph& graph, const std::string& file);
  void find_last_uses(const ExportedGraph& graph);
  void execute(const Step& step, GraphValues& values, const GraphMode& mode) const;
  void call_operator(const Step& step, GraphValues& values) const;
  static void put(const Step& step, std::vector<c10::IValue> results, GraphValues& values);

  std::vector<Step> steps_;
};

}  // namespace stoker
