#include "stoker/core/task.h"

#include <vector>

#include "stoker/core/suggest.h"

namespace stoker {

std::span<const std::string> task_names() {
  static const std::vector<std::string> all = {"classify", "multilabel", "regress"};
  return all;
}

Task parse_task(std::string_view name) {
  return static_cast<Task>(place_of_name(name, task_names(), "task"));
}

const std::string& name_of(Task task) { return task_names()[static_cast<std::size_t>(task)]; }

}  // namespace stoker
