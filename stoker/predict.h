/// \file
/// Prediction: the classes of images, with the pixels that training saw.
///
///     #include <stoker/predict.h>
///
///     stoker::Predictor predictor("runs/first/weights/best.safetensors");
///     for (const stoker::ImagePrediction& image : predictor.predict("photos/"))
///       std::printf("%s %s\n", image.name.c_str(), image.label.c_str());
///
/// Errors are thrown as stoker::Error. Link with the CMake target `Stoker::train`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stoker/export.h"

namespace stoker {

/// Where and how predictions are computed.
struct PredictOptions {
  std::string device = "auto";   ///< auto, cpu, cuda or cuda:INDEX
  int workers = 0;               ///< threads that decode; 0: what the job may use
  int threads = 0;               ///< threads of LibTorch; 0: what pays for the model
  std::uint32_t batch_size = 0;  ///< 0: 256 small images or 32 photographs
};

/// What the model says of one image.
struct ImagePrediction {
  std::string name;        ///< of the file or sample
  std::string label;       ///< of the class; empty where the image could not be read
  double probability = 0;  ///< of that class
  /// Of all classes, in the order of class_names(). A model for regression gives its numbers here,
  /// and neither label nor probability.
  std::vector<float> probabilities;
  std::vector<std::string> labels = {};  ///< of a model for several classes per image: those shown
  std::string error = {};                ///< why the image could not be read
};

/// A trained model. One thread at a time.
class STOKER_API Predictor {
 public:
  /// `weights`: a run's folder, or a model file that `stoker train` or train() wrote.
  explicit Predictor(const std::string& weights, const PredictOptions& options = {});
  ~Predictor();
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;

  /// Of a model for regression, the names of its targets.
  [[nodiscard]] const std::vector<std::string>& class_names() const;

  /// Of all images of `data`, in their order: a folder, a list, a table, a dataset by name or
  /// shards, as open_data() has it. Its test part where it has one, else its validation part, else
  /// all.
  [[nodiscard]] std::vector<ImagePrediction> predict(const std::string& data);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stoker
