// The functions of stoker/stoker_predict.h.
#include <algorithm>
#include <chrono>

#include "stoker/core/c_error.h"
#include "stoker/predict.h"
#include "stoker/stoker_predict.h"

struct stoker_classifier {
  stoker::Classifier classifier;
};

namespace {

using stoker::Classification;
using stoker::Classifier;
using stoker::ClassifierOptions;
using stoker::ClassifyStatus;

ClassifierOptions classifier_options(const stoker_classifier_options& given) {
  if (given.struct_size < sizeof(stoker_classifier_options)) {
    throw stoker::Error({.what = "wrong use of the function",
                         .expected = "stoker_classifier_defaults() before anything is set"});
  }
  ClassifierOptions options;
  if (given.device != nullptr) options.device = given.device;
  if (given.engine != nullptr) options.engine = given.engine;
  if (given.precision != nullptr) options.precision = given.precision;
  options.threads = given.threads;
  options.max_batch = given.max_batch;
  options.max_delay = std::chrono::microseconds(given.max_delay_us);
  options.max_callers = given.max_callers;
  options.max_side = given.max_side;
  options.max_pixels = given.max_pixels;
  options.isolate = given.isolate != 0;
  return options;
}

Classifier::Deadline deadline_in(std::int64_t timeout_ms) {
  constexpr std::int64_t kForever = std::int64_t{1} << 40;
  if (timeout_ms < 0 || timeout_ms > kForever) return Classifier::kNoDeadline;
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
}

int status_code(ClassifyStatus status) {
  switch (status) {
    case ClassifyStatus::kOk:
      return STOKER_OK;
    case ClassifyStatus::kBadImage:
      return STOKER_BAD_IMAGE;
    case ClassifyStatus::kBusy:
      return STOKER_BUSY;
    case ClassifyStatus::kLate:
      return STOKER_LATE;
    case ClassifyStatus::kFailed:
      break;
  }
  return STOKER_FAILED;
}

// Runs `classify` where the call can be right, and hands over what it finds.
template <class Classify>
int classified(bool right_call, stoker_prediction* found, float* probabilities,
               Classify&& classify) noexcept {
  if (!right_call) {
    stoker::set_c_error("wrong use of the function. Expected pointers that are not null.");
    return STOKER_BAD_ARGUMENT;
  }
  return stoker::guarded_c_call(
      [&]() -> int {
        const Classification result = classify();
        if (!result.ok()) {
          stoker::set_c_error(result.error.c_str());
          return status_code(result.status);
        }
        if (found != nullptr) *found = {.best = result.best, .probability = result.probability};
        if (probabilities != nullptr) std::ranges::copy(result.probabilities, probabilities);
        return STOKER_OK;
      },
      [](bool) -> int { return STOKER_FAILED; });
}

}  // namespace

extern "C" {

void stoker_classifier_defaults(stoker_classifier_options* options) {
  if (options == nullptr) return;
  const ClassifierOptions defaults;
  *options = {.struct_size = sizeof(stoker_classifier_options),
              .device = "auto",
              .engine = "libtorch",
              .precision = "auto",
              .threads = defaults.threads,
              .max_batch = defaults.max_batch,
              .max_delay_us = defaults.max_delay.count(),
              .max_callers = defaults.max_callers,
              .max_side = defaults.max_side,
              .isolate = 0,
              .max_pixels = defaults.max_pixels};
}

stoker_classifier* stoker_classifier_create(const char* weights,
                                            const stoker_classifier_options* options) {
  if (weights == nullptr) {
    stoker::set_c_error("wrong use of the function. Expected weights.");
    return nullptr;
  }
  return stoker::guarded_c_call(
      [&] {
        return new stoker_classifier{Classifier(
            weights, options == nullptr ? ClassifierOptions{} : classifier_options(*options))};
      },
      [](bool) -> stoker_classifier* { return nullptr; });
}

void stoker_classifier_free(stoker_classifier* classifier) { delete classifier; }

size_t stoker_class_count(const stoker_classifier* classifier) {
  return classifier == nullptr ? 0 : classifier->classifier.class_names().size();
}

const char* stoker_class_name(const stoker_classifier* classifier, size_t number) {
  if (number >= stoker_class_count(classifier)) return nullptr;
  return classifier->classifier.class_names()[number].c_str();
}

int stoker_classify_encoded(const stoker_classifier* classifier, const void* bytes, size_t size,
                            int64_t timeout_ms, stoker_prediction* found, float* probabilities) {
  const bool right = classifier != nullptr && (bytes != nullptr || size == 0);
  return classified(right, found, probabilities, [&] {
    return classifier->classifier.classify({static_cast<const std::byte*>(bytes), size},
                                           deadline_in(timeout_ms));
  });
}

int stoker_classify_file(const stoker_classifier* classifier, const char* path, int64_t timeout_ms,
                         stoker_prediction* found, float* probabilities) {
  const bool right = classifier != nullptr && path != nullptr;
  return classified(right, found, probabilities, [&] {
    return classifier->classifier.classify_file(path, deadline_in(timeout_ms));
  });
}

int stoker_classify_pixels(const stoker_classifier* classifier, const stoker_pixels* pixels,
                           int64_t timeout_ms, stoker_prediction* found, float* probabilities) {
  const bool right = classifier != nullptr && pixels != nullptr && pixels->data != nullptr;
  return classified(right, found, probabilities, [&] {
    return classifier->classifier.classify_pixels({.data = pixels->data,
                                                   .height = pixels->height,
                                                   .width = pixels->width,
                                                   .channels = pixels->channels,
                                                   .bytes_per_row = pixels->bytes_per_row},
                                                  deadline_in(timeout_ms));
  });
}

}  // extern "C"
