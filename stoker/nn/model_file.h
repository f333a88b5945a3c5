// A model as one safetensors file: its tensors, and in the metadata all that using it takes: the
// architecture, the input, the names of the classes, how pixels become numbers and how outputs are
// read. So `predict`
// needs nothing else and cannot disagree with `train`. Python's safetensors reads it too.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "stoker/core/task.h"
#include "stoker/io/safetensors.h"
#include "stoker/nn/calibration.h"
#include "stoker/nn/engine_trial.h"
#include "stoker/nn/model.h"
#include "stoker/nn/model_keys.h"
#include "stoker/nn/preprocessing.h"
#include "stoker/nn/target_scale.h"

namespace stoker {

// What a model file says besides the tensors.
struct ModelCard {
  std::string architecture;
  ModelInput input;
  NetworkGraph graph = {};               // of a network that was exported from Python
  std::vector<std::string> class_names;  // label i means class_names[i]; of kRegress the targets'
  Preprocessing preprocessing;
  // How the run's training data was divided (data/division.h); empty: it was not.
  std::string division = {};
  // A file of kClassify has none of these, nor says its task.
  Task task = Task::kClassify;
  // Of kMultilabel, one for each class: a probability from here on up means that the image shows
  // it. Empty: 0.5.
  std::vector<double> thresholds = {};
  // Of kRegress, one for each target (nn/target_scale.h).
  std::vector<double> target_mean = {}, target_std = {};
  Calibration calibration = {};  // for int8, where it was measured
  EngineTrial engines = {};      // which agree and how fast they were, where it was tried

  [[nodiscard]] TargetScale target_scale() const { return {target_mean, target_std}; }
};

// The same model and card make the same bytes. Throws Error where the disk refuses.
void save_model(const std::filesystem::path& path, const Model& model,
                const std::vector<std::string>& class_names, const Preprocessing& preprocessing);

// The same for tensors that were a model's at some time.
void save_model(const std::filesystem::path& path, const ModelCard& card,
                const std::vector<NamedTensor>& tensors);

struct LoadedModel {
  std::unique_ptr<Model> model;  // on the CPU
  ModelCard card;
};
// Throws Error where the file is not such a file, its tensors are not its architecture's or, unless
// `allow_nonfinite`, a weight is NaN or infinite.
[[nodiscard]] LoadedModel load_model(const std::filesystem::path& path,
                                     bool allow_nonfinite = false);

// The card's calibration. Throws Error, which says how to get one, where it has none.
[[nodiscard]] const Calibration& needed_calibration(const ModelCard& card);

// Writes the calibration or the engines of a card into the metadata of a model file; all else of
// the file stays as it is. Throws Error where the file is no model file of ours, as
// check_can_note() does.
void check_can_note(const std::filesystem::path& path);
void note_in_model(const std::filesystem::path& path, const Calibration& calibration);
void note_in_model(const std::filesystem::path& path, const EngineTrial& engines);

// The metadata of a file that says the same as the card.
[[nodiscard]] SafetensorsMetadata card_metadata(const ModelCard& card);
// The card of a file's metadata; Error where it is missing or invalid.
[[nodiscard]] ModelCard read_card(const SafetensorsMetadata& metadata, const std::string& path);

// Throws Error unless the model was made for images of this shape.
void check_image_shape(const ModelCard& card, const ImageShape& shape,
                       const std::string& model_path);
// Throws Error, with the first difference, unless both name the same classes, or targets, in the
// same order.
void check_class_names(const std::vector<std::string>& model, const std::vector<std::string>& data,
                       const std::string& model_path, Task task = Task::kClassify);

}  // namespace stoker
