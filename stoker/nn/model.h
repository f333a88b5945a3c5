// Model: a classifier that can be trained, saved and asked. What its architecture's name, its input
// and a seed make is always the same network, to the last bit.
//
// Tensors are handles: parameters() and buffers() share the model's memory, so writing into them
// changes the model. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "stoker/image/image.h"
#include "stoker/nn/loss_kind.h"
#include "stoker/nn/model_input.h"

namespace stoker {

class GraphBuilder;
struct GraphReference;

struct NamedTensor {
  std::string name;  // as in a file of weights
  at::Tensor tensor;
};

// A network that a file describes by itself, not by a name that this program knows.
struct NetworkGraph {
  std::string text = {};  // io/exported_program.h
  std::string head = {};  // the name of its head's layer, where the user gave it

  [[nodiscard]] bool empty() const noexcept { return text.empty(); }
};

// Tensors that learn together, or stay as they are together.
struct ModelStage {
  std::string name;  // "layer1"
  std::vector<NamedTensor> parameters;
  std::vector<NamedTensor> buffers = {};  // what training changes without a gradient
};

// What convolutions and products are computed in. Weights, gradients, losses and running statistics
// are float32 in every case. kInt8 is for engines alone (nn/engine.h).
enum class Precision { kFloat32, kBfloat16, kFloat16, kInt8 };

[[nodiscard]] const char* name_of(Precision precision) noexcept;  // "float32"

// Names one batch of one run. What a network draws at random in training is a function of it and of
// the sample's place in the batch, so there is no generator whose state a checkpoint would need.
struct DrawKey {
  std::uint64_t seed = 0;
  std::uint64_t batch = 0;        // through all epochs
  std::uint32_t first_place = 0;  // where only a part of the batch is given
  std::uint32_t place_step = 1;   // from one given sample to the next
  std::uint32_t layer = 0;        // that draws, in a network with several
};

// How one pass runs the layers of a stage.
struct StageContext {
  bool training = false;                 // batch norms use and note the batch's statistics
  std::optional<DrawKey> draw_key = {};  // for layers that draw at random; off without it
};

// How much the losses of several labels (nn/target_loss.h) count what is easy already.
struct FocusOptions {
  double gamma = 2;                  // of the focal loss
  std::optional<double> alpha = {};  // its weight of classes present; 1 - alpha of those absent
  double gamma_present = 1;          // of the asymmetric loss, for classes that are present
  double gamma_absent = 4;           // and absent; 0, or 1 or more
  double margin = 0.05;              // probabilities of absent classes below it cost nothing
};

struct LossOptions {
  LossKind kind = LossKind::kCrossEntropy;
  double smoothing = 0;  // this fraction of the target is spread evenly over all classes
  double weight = 1;     // of this batch among those whose gradients are added up
  // One for each class; a sample's loss counts that much. The mean stays one over samples, so that
  // it does not matter how they are spread over batches. Not defined: all count 1.
  // Where targets are numbers: one for each output, whose loss counts that much.
  at::Tensor class_weights = {};
  // One for each sample of the batch; its loss counts that much. Not defined: all count 1.
  at::Tensor sample_weights = {};
  std::optional<DrawKey> draw = {};  // for dropout, which is off without it
  // Of a batch whose samples were mixed in pairs (augment/mix.h): the loss against these labels, or
  // targets, counts with the share 1 - own_share. Not defined: no such thing.
  at::Tensor partner_labels = {};
  at::Tensor partner_weights = {};  // sample weights of the partners; needed with sample_weights
  double own_share = 1;
  FocusOptions focus = {};
  // What a teacher's forward() gives for the same samples; a part of the loss compares with it.
  // Not defined: no teacher. Where labels are classes only.
  at::Tensor teacher_logits = {};
  DistillOptions distill = {};
  std::function<void()> forward_done = {};  // called once, before the first gradient is computed
};

class Model {
 public:
  struct Pass {
    at::Tensor logits;  // (samples, outputs), as forward() gives them
    at::Tensor loss;    // mean over the batch, without the weight; stays on the model's device
  };

  Model(std::string architecture, ModelInput input)
      : architecture_(std::move(architecture)), input_(input) {}
  virtual ~Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // What make_model() reads: "mlp:784,128,10".
  [[nodiscard]] const std::string& architecture() const noexcept { return architecture_; }
  [[nodiscard]] const ModelInput& input() const noexcept { return input_; }
  // Of one sample, forward: by this the number of threads is chosen.
  [[nodiscard]] virtual std::int64_t multiply_adds() const = 0;

  // Of a network that was exported from Python (nn/graph), what a model file must hold to make it
  // again; empty for others.
  [[nodiscard]] virtual NetworkGraph graph() const { return {}; }

  // From the input to the head, which is the last one and a single linear layer.
  [[nodiscard]] virtual std::vector<ModelStage> stages() const = 0;
  // Of all stages, in their order.
  [[nodiscard]] std::vector<NamedTensor> parameters() const;
  // What training changes without a gradient: running statistics.
  [[nodiscard]] std::vector<NamedTensor> buffers() const;

  // The first `count` stages stay as they are: backward() computes no gradient there, and their
  // batch norms normalise as in use and keep their statistics, unless train_frozen_norms() says
  // otherwise. Call it before an optimiser takes the parameters. Throws Error where the head would
  // be frozen too.
  virtual void freeze(std::size_t count);
  [[nodiscard]] std::size_t frozen() const noexcept { return frozen_; }
  // Whether batch norms of frozen stages, too, normalise by the batch in training and move their
  // running statistics, as PyTorch's model.train() has it; their weights stay as they are.
  void train_frozen_norms(bool train) noexcept { trains_frozen_norms_ = train; }
  [[nodiscard]] bool trains_frozen_norms() const noexcept { return trains_frozen_norms_; }
  // Those that are not frozen.
  [[nodiscard]] std::vector<ModelStage> trainable_stages() const;
  // Of these stages: what an optimiser takes.
  [[nodiscard]] std::vector<NamedTensor> trainable_parameters() const;
  // What a step changes without a gradient: of stages that learn and, where frozen norms are
  // trained, of all.
  [[nodiscard]] std::vector<NamedTensor> changing_buffers() const;

  // Logits as in use, not in training: nothing of the model changes. Their softmax is the
  // probabilities, for every classifier; for other tasks see predictions_of() in nn/target_loss.h.
  // `x` is (samples, channels, height, width).
  [[nodiscard]] virtual at::Tensor forward(const at::Tensor& x) const = 0;
  // What the output layer gives for these logits: the probabilities or, of a perceptron with a
  // sigmoid output, its activations. The squared error compares these with one-hot targets.
  [[nodiscard]] virtual at::Tensor activated(const at::Tensor& logits) const;
  // Whose sigmoid is the probability of each class by itself, from these logits: the logits
  // themselves or, of a perceptron with a sigmoid output, its sums before the activation. The
  // binary cross entropy of a classifier compares these with one-hot targets.
  [[nodiscard]] virtual at::Tensor class_scores(const at::Tensor& logits) const { return logits; }
  // One pass of training: adds the gradient of the loss against `labels` to the trainable
  // parameters' grad(). They are classes (int64, one a sample) or, for other tasks than
  // classification, targets (float32, one for each output; nn/target_loss.h).
  virtual Pass backward(const at::Tensor& x, const at::Tensor& labels,
                        const LossOptions& options) = 0;

  // The forward half of backward(), without gradients: running statistics move as they do there
  // (or as nn/layers/running_share.h says), and nothing else.
  virtual void note_statistics(const at::Tensor& /*x*/, const std::optional<DrawKey>& /*draw*/) {}

  // What the head sees of `x`, as in use: (samples, features). Where everything but the head is
  // frozen, norms included, training sees the same, so features may be computed once and kept.
  [[nodiscard]] virtual at::Tensor features(const at::Tensor& x) const = 0;
  // forward() and backward() of the head alone: forward_head(features(x)) is forward(x).
  [[nodiscard]] virtual at::Tensor forward_head(const at::Tensor& features) const = 0;
  virtual Pass backward_head(const at::Tensor& features, const at::Tensor& labels,
                             const LossOptions& options) = 0;

  // Where in each image lies what speaks for these classes (int64, one a sample), by Grad-CAM:
  // (samples, rows, columns) of the last feature map, 0 to 1. Error where the network has no such
  // map.
  [[nodiscard]] virtual at::Tensor class_activation(const at::Tensor& x,
                                                    const at::Tensor& classes) const;

  // Throws Error where the network has float32 alone.
  virtual void compute_in(Precision precision);
  [[nodiscard]] Precision precision() const noexcept { return precision_; }
  [[nodiscard]] virtual bool has_mixed_precision() const { return false; }

  // Moves every tensor; handles taken before still point to the old ones.
  void to(const at::Device& device) {
    move_tensors(device);
    device_ = parameters().front().tensor.device();  // with its index, which may not be given
  }
  [[nodiscard]] const at::Device& device() const noexcept { return device_; }

  // Adds to the graph what training computes, as nodes from `x`, normalised pixels, to the logits,
  // which it returns; without dropout in front of the head. Tensors have their names. For export
  // (nn/graph/inference_graph.h).
  virtual GraphReference append_nodes(GraphBuilder& graph, GraphReference x) const = 0;
  // Whether it can.
  [[nodiscard]] virtual bool has_graph() const { return true; }

 protected:
  virtual void move_tensors(const at::Device& device) = 0;
  Precision precision_ = Precision::kFloat32;

 private:
  std::string architecture_;
  ModelInput input_;
  std::size_t frozen_ = 0;
  bool trains_frozen_norms_ = false;
  at::Device device_ = c10::DeviceType::CPU;  // where every model starts
};

// Parameters and buffers: all that a file of weights holds.
[[nodiscard]] std::vector<NamedTensor> all_tensors(const Model& model);
[[nodiscard]] std::int64_t parameter_count(const Model& model);

// Throws Error, naming both devices, where the batch does not lie where the model does.
void check_same_device(const at::Device& model, const at::Device& batch);

}  // namespace stoker
