// A network as in use, on a CPU: batch norms folded, convolutions and products with what follows
// them in one pass, weights in oneDNN's order.
//
// A batch is computed in parts of a few images, each part by one thread. Parts are small enough
// that memory is used again, not taken anew, and stays in caches: MobileNetV2 is 1.9 times as fast
// with parts of 4 images as with 32 at once. Their size follows from the network and the
// largest batch, so that results do not depend on the number of threads. A batch of one part is
// computed by all threads together.
#pragma once

#include <cstdint>
#include <optional>

#include "stoker/nn/engine.h"
#include "stoker/nn/graph/graph_executor.h"
#include "stoker/nn/inference/compute_streams.h"

namespace stoker {

// Whether this form is faster than the model's own: on a CPU, and not for small networks, where
// reading images takes longer than computing.
[[nodiscard]] bool is_worth_inference(const Model& model);

class InferenceNetwork final : public Engine {
 public:
  // What forward() gives: logits, or what the head sees (Model::features()).
  enum class Output : std::uint8_t { kLogits, kFeatures };

  // The model may change, or end, afterwards. Throws Error for a network that does not say what it
  // computes (stoker/network.h), and where LibTorch cannot execute it.
  InferenceNetwork(const Model& model, const EngineOptions& options,
                   Output output = Output::kLogits);

  [[nodiscard]] at::Tensor forward(const at::Tensor& x) override;
  [[nodiscard]] std::string description() const override;

  // Images of a part.
  [[nodiscard]] std::int64_t part() const noexcept { return part_; }

 private:
  [[nodiscard]] at::Tensor forward_part(const at::Tensor& x) const;

  ModelInput input_;
  EngineOptions options_;
  std::int64_t part_ = 1, outputs_ = 0;
  // Several threads may compute one layer. Not in int8 with AMX: there oneDNN's blocks, and with
  // them its rounding, depend on the number of threads.
  bool layers_divide_ = true;
  GraphValues inputs_;  // weights and constants
  GraphReference images_, output_;
  std::optional<GraphExecutor> executor_;
  ComputeStreams streams_;
};

}  // namespace stoker
