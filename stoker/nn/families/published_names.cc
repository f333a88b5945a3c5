#include "stoker/nn/families/published_names.h"

#include <algorithm>

#include "stoker/nn/families/built_families.h"
#include "stoker/nn/graph/graph_layout.h"
#include "stoker/nn/graph/graph_nodes.h"

namespace stoker {
namespace {

// Of the graphs that a file is compared with; the size of the image changes nothing but positions.
constexpr ModelInput kAnyInput = {.image = {.height = 224, .width = 224, .channels = 3},
                                  .classes = 1};

// As ours: where the other library has the whole name or that of its layer.
std::string our_name(const std::string& name, const std::map<std::string, std::string>& others) {
  if (const auto whole = others.find(name); whole != others.end()) return whole->second;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return name;
  const auto layer = others.find(name.substr(0, dot));
  return layer == others.end() ? name : layer->second + name.substr(dot);
}

// Whether these are the network's tensors, but for the head's, and for what can be made to fit.
bool are_of(std::span<const TensorView> found, const std::string& architecture) {
  const BuiltFamily& family = *find_built_family(architecture);
  const BuiltGraph built = build_network(family, architecture, kAnyInput, /*drop_path=*/0);
  const std::string head = lay_out(built.graph, /*head=*/{}, architecture).head_name + ".";
  const TensorShapes wanted = shapes_of(built);
  const std::set<std::string> first = first_weights(built);
  const std::vector<std::string> names = our_names(found, built, wanted);
  std::map<std::string, const TensorShape*> shapes;
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

TensorShapes shapes_of(const BuiltGraph& built) {
  TensorShapes shapes;
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

std::vector<std::string> our_names(std::span<const TensorView> found, const BuiltGraph& built,
                                   const TensorShapes& wanted) {
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

TensorShape without_ones(TensorShape shape) {
  std::erase(shape, 1);
  return shape;
}

bool differ_in_channels(const TensorShape& a, const TensorShape& b) {
  return a.size() == 4 && b.size() == 4 && a[0] == b[0] && a[2] == b[2] && a[3] == b[3] &&
         a[1] > 0 && b[1] > 0;
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
  const TensorShape& shape = found[static_cast<std::size_t>(place - names.begin())].shape;
  return shape.empty() ? std::nullopt : std::optional(shape[0]);
}

}  // namespace stoker
