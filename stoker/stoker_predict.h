/// \file
/// For C and other languages: the class of an image, by a model that `stoker train` made. Plain C99
/// over stoker::Classifier (stoker/predict.h). Link with the CMake target `Stoker::train`, or
/// `pkg-config stoker-train`.
///
///     stoker_classifier* c = stoker_classifier_create("runs/first", NULL);
///     stoker_prediction found;
///     if (stoker_classify_file(c, "photo.jpg", -1, &found, NULL) == STOKER_OK)
///       printf("%s %.2f\n", stoker_class_name(c, found.best), found.probability);
///     else
///       fprintf(stderr, "%s\n", stoker_last_error());
///     stoker_classifier_free(c);
///
/// All functions may be called by any number of threads at once, also with the same classifier:
/// images that wait at the same time are computed as one batch. No exception leaves them.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "stoker/export.h"
#include "stoker/stoker_preprocess.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Where and how it computes, and what it refuses; see stoker::ClassifierOptions. Begin with
/// stoker_classifier_defaults().
typedef struct stoker_classifier_options {
  size_t struct_size;     ///< sizeof(stoker_classifier_options): later ones may be longer
  const char* device;     ///< "auto", "cpu", "cuda", "cuda:INDEX"
  const char* engine;     ///< "libtorch", "openvino", "onnxruntime", "auto", "training"
  const char* precision;  ///< "auto", "float32", "bfloat16", "int8"
  int32_t threads;        ///< of the network; 0: what pays for it
  uint32_t max_batch;     ///< images that are computed together
  int64_t max_delay_us;   ///< how long a batch waits for callers that are still decoding
  size_t max_callers;     ///< calls at once, one more is STOKER_BUSY; 0: any number
  int32_t max_side;       ///< of an image; larger ones are refused
  int32_t isolate;        ///< not 0: locked-down processes decode, for images that are not trusted
  int64_t max_pixels;     ///< of an image; larger ones are refused
} stoker_classifier_options;

/// Sets all options to their defaults.
STOKER_API void stoker_classifier_defaults(stoker_classifier_options* options);

/// A model that is ready. Opaque.
typedef struct stoker_classifier stoker_classifier;

/// `weights`: a run's folder or a model file; `options` may be null. Null where it cannot be used:
/// see stoker_last_error().
STOKER_API stoker_classifier* stoker_classifier_create(const char* weights,
                                                       const stoker_classifier_options* options);
/// Answers the calls that have begun and ends it. Null is allowed. No call may begin once this has.
STOKER_API void stoker_classifier_free(stoker_classifier* classifier);

/// How many classes the model has, or numbers that it predicts.
STOKER_API size_t stoker_class_count(const stoker_classifier* classifier);
/// Valid while the classifier lives; null where the number is too large.
STOKER_API const char* stoker_class_name(const stoker_classifier* classifier, size_t number);

/// The most probable class. Of a model for regression it means nothing; its numbers are where the
/// probabilities would be.
typedef struct stoker_prediction {
  size_t best;         ///< its number, for stoker_class_name()
  double probability;  ///< of that class
} stoker_prediction;

/// Of the bytes of an image's file: JPEG, PNG, WebP, TIFF, BMP or PNM. Gives up after `timeout_ms`;
/// below 0: never. `found` and `probabilities` may be null; the latter has space for
/// stoker_class_count() numbers. Returns a stoker_status.
STOKER_API int stoker_classify_encoded(const stoker_classifier* classifier, const void* bytes,
                                       size_t size, int64_t timeout_ms, stoker_prediction* found,
                                       float* probabilities);
/// Of an image's file.
STOKER_API int stoker_classify_file(const stoker_classifier* classifier, const char* path,
                                    int64_t timeout_ms, stoker_prediction* found,
                                    float* probabilities);
/// Of pixels, which are framed and normalised as those of a file.
STOKER_API int stoker_classify_pixels(const stoker_classifier* classifier,
                                      const stoker_pixels* pixels, int64_t timeout_ms,
                                      stoker_prediction* found, float* probabilities);

#ifdef __cplusplus
}
#endif
