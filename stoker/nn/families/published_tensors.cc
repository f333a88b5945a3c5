#include "stoker/nn/families/published_tensors.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "stoker/nn/families/built_families.h"
#include "stoker/nn/graph/first_convolution.h"
#include "stoker/nn/graph/graph_layout.h"
#include "stoker/nn/tensor_views.h"

namespace stoker {
namespace {

using Shape = std::vector<std::int64_t>;
using Shapes = std::map<std::string, Shape>;

constexpr const char* kPositions = "pos_embed";
// Of the graphs that a file is compared with; the size of the image changes nothing but positions.
constexpr ModelInput kAnyInput = {.image = {.height = 224, .width = 224, .channels = 3},
                                  .classes = 1};

Shapes shapes_of(const BuiltGraph& built) {
  Shapes shapes;
  for (std::size_t i = 0; i < built.tensors.size(); ++i) {
    const GraphInput& input = built.graph.inputs[i];
    if (input.kind != GraphInput::Kind::kImages) shapes[input.name] = built.tensors[i].shape;
  }
  return shapes;
}

std::set<std::string> first_weights(const BuiltGraph& built) {
  std::set<std::string> names;
  for (const std::size_t place : first_convolutions(built.graph)) {
    names.insert(built.graph.inputs[place].name);
  }
  return names;
}

// As ours: where the other library has the whole name or that of its layer.
std::string our_name(const std::string& name, const std::map<std::string, std::string>& others) {
  if (const auto whole = others.find(name); whole != others.end()) return whole->second;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return name;
  const auto layer = others.find(name.substr(0, dot));
  return layer == others.end() ? name : layer->second + name.substr(dot);
}

// By the library whose names more of them have.
std::vector<std::string> our_names(std::span<const TensorView> found, const BuiltGraph& built,
                                   const Shapes& wanted) {
  std::map<std::string, std::string> others;
  for (const OtherName& other : built.other_names) others[other.theirs] = other.ours;
  std::vector<std::string> same, renamed;
  for (const TensorView& tensor : found) {
    same.push_back(tensor.name);
    renamed.push_back(our_name(tensor.name, others));
  }
  const auto known = [&](const std::vector<std::string>& names) {
    return std::ranges::count_if(names,
                                 [&](const std::string& name) { return wanted.contains(name); });
  };
  return known(renamed) > known(same) ? renamed : same;
}

Shape without_ones(Shape shape) {
  std::erase(shape, 1);
  return shape;
}

bool is_real(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBf16 ||
         dtype == DType::kF64;
}

bool differ_in_channels(const Shape& a, const Shape& b) {
  return a.size() == 4 && b.size() == 4 && a[0] == b[0] && a[2] == b[2] && a[3] == b[3] &&
         a[1] > 0 && b[1] > 0;
}

// Whether these are the network's tensors, but for the head's, and for what can be made to fit.
bool are_of(std::span<const TensorView> found, const std::string& architecture) {
  const BuiltFamily& family = *find_built_family(architecture);
  const BuiltGraph built = build_network(family, architecture, kAnyInput, /*drop_path=*/0);
  const std::string head = lay_out(built.graph, /*head=*/{}, architecture).head_name + ".";
  const Shapes wanted = shapes_of(built);
  const std::set<std::string> first = first_weights(built);
  const std::vector<std::string> names = our_names(found, built, wanted);
  std::map<std::string, const Shape*> shapes;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!wanted.contains(names[i])) return false;  // of a deeper network
    shapes[names[i]] = &found[i].shape;
  }
  return std::ranges::all_of(wanted, [&](const auto& one) {
    const auto& [name, shape] = one;
    if (name.starts_with(head)) return true;
    const auto here = shapes.find(name);
    if (here == shapes.end()) return name.ends_with(".num_batches_tracked");
    if (name == kPositions) return here->second->size() == 3 && here->second->back() == shape[2];
    if (first.contains(name)) return differ_in_channels(*here->second, shape);
    return without_ones(*here->second) == without_ones(shape);
  });
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
  const Shapes wanted = shapes_of(built);
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
    const Shape& shape = place->second;
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

std::optional<std::string> built_network_of(std::span<const TensorView> found) {
  for (const BuiltFamily& family : built_families()) {
    for (const std::string& member : family.family.members) {
      if (are_of(found, member)) return member;
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> published_classes(std::span<const TensorView> found,
                                              const std::string& architecture) {
  const BuiltFamily* family = find_built_family(architecture);
  if (family == nullptr) return std::nullopt;
  const BuiltGraph built = build_network(*family, architecture, kAnyInput, /*drop_path=*/0);
  const std::string weight = lay_out(built.graph, /*head=*/{}, architecture).head_name + ".weight";
  const std::vector<std::string> names = our_names(found, built, shapes_of(built));
  const auto place = std::ranges::find(names, weight);
  if (place == names.end()) return std::nullopt;
  const Shape& shape = found[static_cast<std::size_t>(place - names.begin())].shape;
  return shape.empty() ? std::nullopt : std::optional(shape[0]);
}

}  // namespace stoker
