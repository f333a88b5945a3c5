#include "stoker/io/fit_weights.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/io/detail/text.h"

namespace stoker {
namespace {

bool is_floating(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBf16 || dtype == DType::kF32 ||
         dtype == DType::kF64;
}

bool fits(const WantedTensor& wanted, const TensorView& found) {
  return wanted.shape == found.shape &&
         (wanted.dtype == found.dtype || (is_floating(wanted.dtype) && is_floating(found.dtype)));
}

bool is_of(std::string_view name, std::string_view layer) {
  return !layer.empty() && name.starts_with(layer) && name.substr(layer.size()).starts_with('.');
}

// How many batches a batch norm has seen: of use only to one without momentum.
bool is_counter(const TensorView& tensor) { return tensor.name.ends_with(".num_batches_tracked"); }

std::string describe(DType dtype, std::span<const std::int64_t> shape) {
  return fmt::format("{} ({})", dtype_name(dtype), fmt::join(shape, ", "));
}

// A name of the file may be any text: quotes only where it needs them.
std::string shown(const std::string& name) {
  std::string quoted = detail::printable(name);
  return quoted.size() == name.size() + 2 ? name : quoted;
}

// "missing 52: a, b, c and 49 more"
std::string list_line(std::string_view what, std::span<const std::string> names) {
  if (names.empty()) return "";
  constexpr std::size_t kShown = 3;
  std::string line = fmt::format("\n{} {}: ", what, names.size());
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    line += (i == 0 ? "" : ", ") + shown(names[i]);
  }
  if (names.size() > kShown) line += fmt::format(" and {} more", names.size() - kShown);
  return line;
}

using Places = std::map<std::string_view, std::size_t>;

// One tensor of another shape makes the whole head a new one.
bool head_fits(std::span<const WantedTensor> wanted, std::span<const TensorView> found,
               const Places& places, std::string_view head) {
  return std::ranges::all_of(wanted, [&](const WantedTensor& tensor) {
    if (!is_of(tensor.name, head)) return true;
    const auto place = places.find(tensor.name);
    return place != places.end() && fits(tensor, found[place->second]);
  });
}

}  // namespace

WeightsFit fit_weights(std::span<const WantedTensor> wanted, std::span<const TensorView> found,
                       std::string_view head) {
  Places places;
  for (std::size_t i = 0; i < found.size(); ++i) places.emplace(found[i].name, i);
  const bool keep_head = head_fits(wanted, found, places, head);
  WeightsFit fit;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const WantedTensor& tensor = wanted[i];
    const auto place = places.find(tensor.name);
    const bool there = place != places.end();
    if (!keep_head && is_of(tensor.name, head)) {
      fit.replaced.push_back(tensor.name);
    } else if (!there) {
      fit.missing.push_back(tensor.name);
    } else if (const TensorView& candidate = found[place->second]; !fits(tensor, candidate)) {
      fit.different.push_back({.name = tensor.name,
                               .wanted = describe(tensor.dtype, tensor.shape),
                               .found = describe(candidate.dtype, candidate.shape)});
    } else {
      fit.fitting.push_back({.wanted = i, .found = place->second});
      if (candidate.dtype != tensor.dtype) fit.converted.push_back(tensor.name);
    }
    if (there) places.erase(place);
  }
  for (const TensorView& tensor : found) {
    if (!places.contains(tensor.name)) continue;
    if (is_counter(tensor)) {
      ++fit.ignored;
    } else if (keep_head || !is_of(tensor.name, head)) {
      fit.unexpected.push_back(tensor.name);
    }
  }
  return fit;
}

std::string WeightsFit::text() const {
  const std::size_t wanted = fitting.size() + missing.size() + different.size() + replaced.size();
  std::string text = fmt::format("loaded {} of {} tensors", fitting.size(), wanted);
  text += list_line("converted to another type", converted);
  text += list_line("new, since the head has another shape", replaced);
  text += list_line("missing", missing);
  text += list_line("unexpected", unexpected);
  std::vector<std::string> pairs;
  for (const Other& other : different) {
    pairs.push_back(fmt::format("{}: {} in the file, {} in the network", other.name, other.found,
                                other.wanted));
  }
  return text + list_line("different", pairs);
}

}  // namespace stoker
