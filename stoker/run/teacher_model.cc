#include "stoker/run/teacher_model.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/data/sources/source_task.h"
#include "stoker/nn/model_file.h"

namespace stoker {
namespace {

std::string text_of(const Preprocessing& preprocessing, int channels) {
  const auto first = [&](const ChannelNumbers& numbers) {
    return std::vector<double>(numbers.begin(), numbers.begin() + channels);
  };
  return fmt::format(
      "`mean` {:.6g} `std` {:.6g}{}", fmt::join(first(preprocessing.mean), ","),
      fmt::join(first(preprocessing.deviation), ","),
      preprocessing.window.empty() ? "" : fmt::format(" `window` {}", preprocessing.window));
}

// Which part of an image it sees does not matter: the teacher gets the student's.
void check_pixels(const ModelCard& teacher, const Preprocessing& student, const std::string& path) {
  const int channels = teacher.input.image.channels;
  const std::string expected = text_of(teacher.preprocessing, channels);
  const std::string found = text_of(student, channels);
  if (expected == found) return;
  throw Error({.what = "the teacher was trained with pixels as other numbers",
               .path = path,
               .expected = expected,
               .found = found,
               .hint = "Give the run the teacher's values"});
}

}  // namespace

std::shared_ptr<const Model> load_teacher(const RunSettings& settings, const TrainData& data,
                                          const Model& student) {
  const std::string& path = settings.teacher;
  LoadedModel loaded = load_model(path);
  if (loaded.card.task != Task::kClassify) {
    throw Error({.what = "the teacher is no classifier",
                 .path = path,
                 .expected = fmt::format("a model of `task` {}", name_of(Task::kClassify)),
                 .found = name_of(loaded.card.task)});
  }
  check_class_names(loaded.card.class_names, output_names(*data.train), path);
  check_image_shape(loaded.card, student.input().image, path);
  check_pixels(loaded.card, settings.preprocessing(), path);
  loaded.model->to(student.device());
  if (loaded.model->has_mixed_precision()) loaded.model->compute_in(student.precision());
  return std::move(loaded.model);
}

}  // namespace stoker
