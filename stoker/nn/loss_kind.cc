#include "stoker/nn/loss_kind.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/core/suggest.h"

namespace stoker {
namespace {

std::vector<LossKind> kinds_of(Task task) {
  using enum LossKind;
  switch (task) {
    case Task::kClassify:
      return {kCrossEntropy, kSquaredError, kBinaryCrossEntropy};
    case Task::kMultilabel:
      return {kBinaryCrossEntropy, kFocal, kAsymmetric};
    case Task::kRegress:
      return {kSquaredError, kHuber};
  }
  return {};
}

}  // namespace

std::span<const std::string> loss_names() {
  static const std::vector<std::string> all = {"cross-entropy", "mse",        "bce",
                                               "focal",         "asymmetric", "huber"};
  return all;
}

LossKind parse_loss_kind(std::string_view name) {
  return static_cast<LossKind>(place_of_name(name, loss_names(), "loss"));
}

LossKind default_loss(Task task) { return kinds_of(task).front(); }

std::vector<std::string> losses_of(Task task) {
  std::vector<std::string> names;
  for (const LossKind kind : kinds_of(task)) {
    names.push_back(loss_names()[static_cast<std::size_t>(kind)]);
  }
  return names;
}

void check_loss(Task task, LossKind loss) {
  const std::vector<LossKind> kinds = kinds_of(task);
  if (std::ranges::find(kinds, loss) != kinds.end()) return;
  throw OptionError({.what = fmt::format("the loss does not belong to the task {}", name_of(task)),
                     .expected = fmt::format("one of {}", fmt::join(losses_of(task), ", ")),
                     .found = loss_names()[static_cast<std::size_t>(loss)]});
}

}  // namespace stoker
