// The Open Inference Protocol, version 2 (that of KServe and Triton), as far as a classifier of
// images needs it: requests and responses of `infer` with tensors in JSON, or behind the JSON as
// Triton's extension for binary data has it. Functions without state; nothing here computes.
//
// A request has one of these inputs:
//   image   BYTES  [n]              files of images: JPEG, PNG …; in JSON as base64
//   pixels  UINT8  [n, h, w, c]     or [h, w, c]; 1, 3 or 4 channels; framed and normalised here
//   values  FP32   [n, c, h, w]     as the network takes them
// and asks for any of the outputs `probabilities` (FP32 [n, classes]), `class` (INT64 [n]) and
// `label` (BYTES [n]); without a list it gets all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/predict.h"

namespace stoker {

enum class InferenceKind : std::uint8_t { kEncoded, kPixels, kValues };

struct InferenceOutput {
  std::string name;
  bool binary = false;
};

struct InferenceRequest {
  std::string id = {};
  InferenceKind kind = InferenceKind::kEncoded;
  std::size_t images = 0;
  std::vector<std::string> encoded = {};    // of kEncoded, one for each image
  std::vector<std::uint8_t> pixels = {};    // of kPixels, all
  int height = 0, width = 0, channels = 0;  // of kPixels
  std::vector<float> values = {};           // of kValues, all
  std::vector<InferenceOutput> outputs = {};
};

struct InferenceLimits {
  ClassifierInput input;         // what the network takes
  std::size_t max_images = 256;  // of one request
};

// `json_bytes`: the value of Inference-Header-Content-Length; empty: all of the body is JSON.
// Throws Error where it is no such request.
[[nodiscard]] InferenceRequest parse_inference(std::string_view body, std::string_view json_bytes,
                                               const InferenceLimits& limits);

struct InferenceModel {
  std::string name;
  std::vector<std::string> class_names;
  ClassifierInput input;
};

struct InferenceAnswer {
  std::string body;
  std::size_t json_bytes = 0;  // 0: all of it is JSON
};
[[nodiscard]] InferenceAnswer inference_answer(const InferenceModel& model,
                                               const InferenceRequest& request,
                                               const std::vector<Classification>& found);

// JSON texts.
[[nodiscard]] std::string server_metadata(const std::string& version);
[[nodiscard]] std::string model_metadata(const InferenceModel& model);

}  // namespace stoker
