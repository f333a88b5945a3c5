/// \file
/// The names of the losses (loss.h, target_loss.h); without LibTorch's headers.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/core/task.h"

namespace stoker {

/// Which loss.
enum class LossKind {
  kCrossEntropy,
  kSquaredError,  ///< against one-hot targets where images have one class, else against numbers
  kBinaryCrossEntropy,  ///< of each class against all others
  kFocal,
  kAsymmetric,
  kHuber,
};

/// Whose word a teacher gives: its probabilities, or its most probable class alone.
enum class DistillKind { kSoft, kHard };

/// How much a teacher counts in the loss of a classifier (nn/loss.h).
struct DistillOptions {
  DistillKind kind = DistillKind::kSoft;
  double alpha = 0.5;      ///< weight of the teacher's part; 1 - alpha of the labels'
  double temperature = 3;  ///< of kSoft: logits are divided by it
  bool operator==(const DistillOptions&) const = default;
};

/// "cross-entropy", "mse", "bce", "focal", "asymmetric", "huber", in the order of the enum.
[[nodiscard]] std::span<const std::string> loss_names();
/// Throws Error with all names.
[[nodiscard]] LossKind parse_loss_kind(std::string_view name);

/// Cross entropy, binary cross entropy or the squared error.
[[nodiscard]] LossKind default_loss(Task task);
/// The names of those that a network of this task can be trained with, the default first.
[[nodiscard]] std::vector<std::string> losses_of(Task task);
/// Throws Error, with the losses that belong to the task, where this one does not.
void check_loss(Task task, LossKind loss);

}  // namespace stoker
