#include "stoker/train/teacher.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/digest.h"
#include "stoker/core/error.h"

namespace stoker {
namespace {

void check_distill(const DistillOptions& options) {
  if (!(options.alpha > 0 && options.alpha <= 1)) {
    throw OptionError(
        {.what = fmt::format("`distill_alpha` must be more than 0, at most 1 (got {})",
                             options.alpha)});
  }
  if (!(options.temperature > 0)) {
    throw OptionError({.what = fmt::format("`distill_temperature` must be more than 0 (got {})",
                                           options.temperature)});
  }
}

void check_can_teach(const Model& teacher, const Model& student, const TrainOptions& options,
                     Task task) {
  check_distill(options.distill);
  if (task != Task::kClassify) {
    throw Error({.what = "a `teacher` can only teach a classifier",
                 .expected = fmt::format("`task` {}", name_of(Task::kClassify)),
                 .found = fmt::format("`task` {}", name_of(task))});
  }
  if (options.cached_views > 0) {
    throw OptionError({.what = "a `teacher` must see the images, which cached features are not",
                       .expected = "`features` fresh",
                       .found = "`features` cached"});
  }
  const auto text = [](const ModelInput& input) {
    return fmt::format("images of {}, {} classes", shape_text(input.image), input.classes);
  };
  if (!(teacher.input() == student.input())) {
    throw Error({.what = "the `teacher` does not fit the network that is trained",
                 .expected = text(student.input()),
                 .found = text(teacher.input())});
  }
}

}  // namespace

std::string digest_of_model(const Model& model) {
  Digest digest;
  digest.add_text(model.architecture());
  for (const NamedTensor& named : all_tensors(model)) {
    const at::Tensor values = named.tensor.detach().to(at::kCPU).contiguous();
    digest.add_text(named.name);
    digest.add({static_cast<const std::byte*>(values.const_data_ptr()), values.nbytes()});
  }
  return digest.hex();
}

void join_teacher(State& state, const Model* teacher, const TrainOptions& options, Task task) {
  if (teacher != nullptr) check_can_teach(*teacher, *state.model, options, task);
  const std::string digest = teacher == nullptr ? "" : digest_of_model(*teacher);
  const bool begins = state.step == 0 && state.teacher.empty();
  if (!begins && digest != state.teacher) {
    const auto text = [](const std::string& of) {
      return of.empty() ? std::string("no teacher") : fmt::format("the teacher {}", of);
    };
    throw Error({.what = "the run began with another teacher",
                 .expected = text(state.teacher),
                 .found = text(digest),
                 .hint = "Give it the weights that it began with, or start a new run"});
  }
  state.teacher = digest;
}

}  // namespace stoker
