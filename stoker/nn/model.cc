#include "stoker/nn/model.h"

#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {

std::vector<NamedTensor> all_tensors(const Model& model) {
  std::vector<NamedTensor> all = model.parameters();
  for (NamedTensor& buffer : model.buffers()) all.push_back(std::move(buffer));
  return all;
}

std::int64_t parameter_count(const Model& model) {
  std::int64_t count = 0;
  for (const NamedTensor& parameter : model.parameters()) count += parameter.tensor.numel();
  return count;
}

void check_same_device(const at::Device& model, const at::Device& batch) {
  if (model == batch) return;
  throw Error({.what = "model and batch lie on different devices",
               .expected = fmt::format("the batch on {}, where the model is", model.str()),
               .found = fmt::format("it on {}", batch.str()),
               .hint = "Move one of them explicitly"});
}

std::string shape_text(const ImageShape& shape) {
  return fmt::format("{}x{}x{}", shape.height, shape.width, shape.channels);
}

}  // namespace stoker
