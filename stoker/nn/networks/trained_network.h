// For tests: small networks as training leaves them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <ATen/ATen.h>

#include "stoker/nn/layers/running_share.h"
#include "stoker/nn/networks/registry.h"

namespace stoker {

inline constexpr ModelInput kSmallPhotograph = {.image = {.height = 64, .width = 64, .channels = 3},
                                                .classes = 7};

inline at::Tensor random_images(const ModelInput& input, std::int64_t count) {
  at::manual_seed(3);
  return at::rand({count, input.image.channels, input.image.height, input.image.width}) * 2 - 1;
}

// With running statistics as training leaves them: a norm that does nothing would hide a wrong one.
inline std::unique_ptr<Model> trained_network(const std::string& architecture) {
  ModelInput input = kSmallPhotograph;
  if (architecture.starts_with("vit")) input.image.height = input.image.width = 224;
  std::unique_ptr<Model> model = make_model(architecture, input, /*seed=*/1);
  at::manual_seed(4);
  for (const NamedTensor& named : model->parameters()) {
    if (named.tensor.dim() == 1) named.tensor.data().add_(at::randn(named.tensor.sizes()) * 0.1);
  }
  const RunningShare all_of_it(1);
  model->note_statistics(random_images(input, 6), std::nullopt);
  return model;
}

}  // namespace stoker
