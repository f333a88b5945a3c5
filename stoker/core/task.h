/// \file
/// What a network learns to say of an image.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stoker/export.h"

namespace stoker {

/// What a network learns to say of an image: one value per output of its head.
enum class Task {
  kClassify,    ///< which one of the classes it belongs to
  kMultilabel,  ///< which of the classes it shows: any number of them
  kRegress,     ///< numbers, the targets
};

/// "classify", "multilabel", "regress", in the order of the enum.
[[nodiscard]] STOKER_API std::span<const std::string> task_names();
/// Throws Error with all names.
[[nodiscard]] STOKER_API Task parse_task(std::string_view name);
/// The name that parse_task() reads.
[[nodiscard]] STOKER_API const std::string& name_of(Task task);

}  // namespace stoker
