#include "stoker/nn/model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

std::vector<NamedTensor> collect(const std::vector<ModelStage>& stages, std::size_t first,
                                 std::vector<NamedTensor> ModelStage::*which) {
  std::vector<NamedTensor> all;
  for (std::size_t i = first; i < stages.size(); ++i) {
    const std::vector<NamedTensor>& tensors = stages[i].*which;
    all.insert(all.end(), tensors.begin(), tensors.end());
  }
  return all;
}

}  // namespace

const char* name_of(Precision precision) noexcept {
  switch (precision) {
    case Precision::kBfloat16:
      return "bfloat16";
    case Precision::kFloat16:
      return "float16";
    case Precision::kInt8:
      return "int8";
    default:
      return "float32";
  }
}

std::vector<NamedTensor> Model::parameters() const {
  return collect(stages(), 0, &ModelStage::parameters);
}

std::vector<NamedTensor> Model::buffers() const {
  return collect(stages(), 0, &ModelStage::buffers);
}

std::vector<NamedTensor> Model::trainable_parameters() const {
  return collect(stages(), frozen_, &ModelStage::parameters);
}

std::vector<NamedTensor> Model::changing_buffers() const {
  return collect(stages(), trains_frozen_norms_ ? 0 : frozen_, &ModelStage::buffers);
}

at::Tensor Model::activated(const at::Tensor& logits) const { return logits.softmax(1); }

std::vector<ModelStage> Model::trainable_stages() const {
  const std::vector<ModelStage> all = stages();
  return {all.begin() + static_cast<std::ptrdiff_t>(frozen_), all.end()};
}

void Model::freeze(std::size_t count) {
  const std::vector<ModelStage> all = stages();
  if (count >= all.size()) {
    throw Error(
        {.what = "cannot freeze all stages",
         .expected = fmt::format("at most {}: {} must learn", all.size() - 1, all.back().name),
         .found = fmt::format("{}", count)});
  }
  frozen_ = count;
}

at::Tensor Model::class_activation(const at::Tensor& /*x*/, const at::Tensor& /*classes*/) const {
  throw Error({.what = "this network cannot show where it looked",
               .expected = "a network of convolutions",
               .found = architecture_});
}

void Model::compute_in(Precision precision) {
  if (precision == Precision::kFloat32) return;
  throw OptionError({.what = "this network computes in float32 alone",
                     .expected = "a network of convolutions for lower precision",
                     .found = architecture_,
                     .hint = "Remove `amp`"});
}

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

}  // namespace stoker
