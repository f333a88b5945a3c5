#include "stoker/nn/families/published_tensors.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "stoker/nn/families/built_families.h"
#include "stoker/nn/families/published_names.h"
#include "stoker/nn/graph/first_convolution.h"
#include "stoker/nn/tensor_views.h"

namespace stoker {
namespace {

bool is_real(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBf16 ||
         dtype == DType::kF64;
}

}  // namespace

at::Tensor resampled_positions(const at::Tensor& positions, std::int64_t rows, std::int64_t columns,
                               std::int64_t prefix) {
  const std::int64_t places = positions.size(1) - prefix, channels = positions.size(2);
  const auto side = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(places))));
  if (places < 1 || side * side != places) return {};
  const at::NoGradGuard no_grad;
  const at::Tensor real = positions.to(at::kFloat);
  at::Tensor grid = real.narrow(1, prefix, places).reshape({1, side, side, channels});
  grid = at::_upsample_bicubic2d_aa(grid.permute({0, 3, 1, 2}), {rows, columns},
                                    /*align_corners=*/false);
  grid = grid.permute({0, 2, 3, 1}).reshape({1, rows * columns, channels});
  return at::cat({real.narrow(1, 0, prefix), grid}, 1);
}

PublishedTensors::PublishedTensors(std::span<const TensorView> found,
                                   const std::string& architecture, const ModelInput& input)
    : views_(found.begin(), found.end()) {
  const BuiltFamily* family = find_built_family(architecture);
  if (family == nullptr) return;
  const BuiltGraph built = build_network(*family, architecture, input, /*drop_path=*/0);
  const TensorShapes wanted = shapes_of(built);
  const std::set<std::string> first = first_weights(built);
  const std::vector<std::string> names = our_names(found, built, wanted);
  made_.reserve(views_.size());
  const auto replace = [&](TensorView& view, const at::Tensor& tensor) {
    if (!tensor.defined()) return;
    const at::Tensor& made = made_.emplace_back(tensor.to(at::kFloat).contiguous());
    view.dtype = DType::kF32;
    view.shape = made.sizes().vec();
    view.bytes = std::as_bytes(
        std::span(made.const_data_ptr<float>(), static_cast<std::size_t>(made.numel())));
  };
  for (std::size_t i = 0; i < views_.size(); ++i) {
    TensorView& view = views_[i];
    view.name = names[i];
    const auto place = wanted.find(view.name);
    if (place == wanted.end() || place->second == view.shape || !is_real(view.dtype)) continue;
    const TensorShape& shape = place->second;
    if (without_ones(view.shape) == without_ones(shape)) {
      view.shape = shape;
    } else if (first.contains(view.name) && differ_in_channels(view.shape, shape)) {
      replace(view, with_channels(tensor_of(view).to(at::kFloat), shape[1]));
    } else if (view.name == kPositions && view.shape.size() == 3 && view.shape[0] == 1 &&
               view.shape[2] == shape[2]) {
      const std::int64_t rows = input.image.height / family->side_step,
                         columns = input.image.width / family->side_step;
      replace(view, resampled_positions(tensor_of(view), rows, columns, shape[1] - rows * columns));
    }
  }
}

}  // namespace stoker
