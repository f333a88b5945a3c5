/// \file
/// Prediction: the classes of images, with the pixels that training saw.
///
///     #include <stoker/predict.h>
///
///     stoker::Predictor predictor("runs/first/weights/best.safetensors");
///     for (const stoker::ImagePrediction& image : predictor.predict("photos/"))
///       std::printf("%s %s\n", image.name.c_str(), image.label.c_str());
///
/// One image at a time, from many threads: Classifier, below.
///
///     stoker::Classifier classifier("runs/first");
///     const auto found = classifier.classify_file("photo.jpg");
///     if (found.ok()) std::printf("%s %.2f\n", found.label.c_str(), found.probability);
///
/// Errors are thrown as stoker::Error. Link with the CMake target `Stoker::train`.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
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
  /// libtorch, openvino, onnxruntime, training or auto: the fastest that `stoker eval --engine
  /// auto` found
  std::string engine = "libtorch";
  std::string precision = "auto";  ///< auto, float32, bfloat16 or int8 (`stoker calibrate`)
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

/// Where and how a Classifier computes, and what it refuses.
struct ClassifierOptions {
  std::string device = "auto";  ///< auto, cpu, cuda or cuda:INDEX
  /// libtorch, openvino, onnxruntime, training or auto: the fastest that `stoker eval --engine
  /// auto` found
  std::string engine = "libtorch";
  std::string precision = "auto";  ///< auto, float32, bfloat16 or int8 (`stoker calibrate`)
  int threads = 0;                 ///< of the network; 0: what pays for it
  std::uint32_t max_batch = 32;    ///< images that are computed together
  /// How long a batch waits for callers that are still decoding. A caller that is alone never
  /// waits.
  std::chrono::microseconds max_delay{2000};
  /// Calls at once; one more is refused (kBusy), before its image is decoded. 0: any number.
  std::size_t max_callers = 0;
  int max_side = 65500;                   ///< of an image; larger ones are refused
  std::int64_t max_pixels = 178'956'970;  ///< of an image; larger ones are refused
  /// Encoded images are decoded by locked-down processes, for images that are not trusted. A codec
  /// that crashes, hangs or takes all memory then costs its own image alone.
  bool isolate = false;
  int decoders = 0;  ///< processes of `isolate`; 0: what the job may use
  /// Of `isolate`: a decoder that takes longer is replaced, and its image refused.
  std::chrono::milliseconds decode_time{10'000};
};

/// How a call of a Classifier ended.
enum class ClassifyStatus : std::uint8_t {
  kOk,
  kBadImage,  ///< damaged, too large, or no image: the fault of this image alone
  kBusy,      ///< refused: there are max_callers calls already
  kLate,      ///< its deadline has passed
  kFailed,    ///< the network could not be computed
};

/// What a Classifier says of one image. Unless ok(), `error` says why there is nothing else.
struct Classification : ImagePrediction {
  ClassifyStatus status = ClassifyStatus::kOk;
  std::size_t best = 0;  ///< the class of `label`, as a place in class_names()
  /// Whether there is a prediction.
  [[nodiscard]] bool ok() const noexcept { return status == ClassifyStatus::kOk; }
};

/// Pixels of 8 bits that the caller owns, rows from the top, channels interleaved.
struct PixelsView {
  const std::uint8_t* data = nullptr;
  int height = 0, width = 0;
  int channels = 3;               ///< 1: grey, 3: RGB, 4: RGBA
  std::size_t bytes_per_row = 0;  ///< 0: rows follow each other without gaps
};

/// What the network takes.
struct ClassifierInput {
  int height = 0, width = 0, channels = 0;
  /// Numbers of one image.
  [[nodiscard]] std::size_t values() const noexcept {
    return static_cast<std::size_t>(height) * static_cast<std::size_t>(width) *
           static_cast<std::size_t>(channels);
  }
};

/// A moment's view of a Classifier, and sums since it was made.
struct ClassifierStats {
  std::size_t callers = 0;  ///< in classify() now
  std::uint64_t batches = 0, images = 0, bad_images = 0, busy = 0, late = 0;
};

/// A trained model for single images. Any number of threads may call it at once: each decodes its
/// own image, and one thread of the classifier computes those that wait as one batch. The pixels
/// are those of `stoker predict` for the same file. Results do not depend on which images share a
/// batch, but for the rounding of float32.
///
/// An image that cannot be used is not thrown but returned, with a status and the reason, and
/// harms no other call. Only the constructor throws.
class STOKER_API Classifier {
 public:
  /// When a call gives up, also in the middle of a computation.
  using Deadline = std::chrono::steady_clock::time_point;
  static constexpr Deadline kNoDeadline = Deadline::max();  ///< waits as long as it takes

  /// `weights`: a run's folder, or a model file. Sets LibTorch's threads of the whole process.
  explicit Classifier(const std::string& weights, const ClassifierOptions& options = {});
  /// Answers the calls that have begun, and waits until they have returned. No call may begin once
  /// this has.
  ~Classifier();
  Classifier(const Classifier&) = delete;
  Classifier& operator=(const Classifier&) = delete;

  /// Of the bytes of a JPEG, PNG, WebP, TIFF, BMP or PNM file.
  [[nodiscard]] Classification classify(std::span<const std::byte> encoded,
                                        Deadline deadline = kNoDeadline) const;
  /// Of an image's file.
  [[nodiscard]] Classification classify_file(const std::string& path,
                                             Deadline deadline = kNoDeadline) const;
  /// Of pixels, which are framed and normalised as those of a file.
  [[nodiscard]] Classification classify_pixels(const PixelsView& pixels,
                                               Deadline deadline = kNoDeadline) const;
  /// Of numbers as the network takes them, framed and normalised: channel, row, column.
  [[nodiscard]] Classification classify_values(std::span<const float> values,
                                               Deadline deadline = kNoDeadline) const;

  /// Of a model for regression, the names of its targets.
  [[nodiscard]] const std::vector<std::string>& class_names() const;
  /// What classify_values() takes.
  [[nodiscard]] ClassifierInput input() const;
  /// For people: network, engine and device.
  [[nodiscard]] std::string description() const;
  /// For who watches it.
  [[nodiscard]] ClassifierStats stats() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stoker
