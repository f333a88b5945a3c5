// ClassifyService: a Classifier behind HTTP. `POST /classify` takes the file of an image; the paths
// under /v2 are those of the Open Inference Protocol (inference_protocol.h); /metrics is for
// Prometheus.
//
// Statuses: 400 the request or its image cannot be used, 401 without the token, 404, 405, 413 too
// large, 429 too much is waiting, 500 the network failed, 503 the server is being ended, 504 the
// deadline has passed.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "stoker/predict.h"
#include "stoker/serve/http_server.h"

namespace stoker {

struct ServeOptions {
  std::string weights;       // a run's folder or a model file
  std::string model = {};    // its name in paths; empty: that of the run or file
  std::string version = {};  // of the program, for clients
  std::string token = {};    // that clients must send; empty: anybody may ask
  // From the headers of a request to its answer. A client may ask for less: X-Timeout-Ms.
  std::chrono::milliseconds time_limit{10'000};
  std::size_t max_images = 256;  // of one request
  ClassifierOptions classifier = {};
  HttpOptions http = {};
};

class ClassifyService {
 public:
  // Answers from now on. Throws Error where the model or the address cannot be used.
  explicit ClassifyService(const ServeOptions& options);
  ~ClassifyService();
  ClassifyService(const ClassifyService&) = delete;
  ClassifyService& operator=(const ClassifyService&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] const std::string& model() const noexcept;
  [[nodiscard]] std::string description() const;

  // Is not ready any more, accepts no more connections, and answers the requests that have begun;
  // returns when they are answered or the time has passed.
  void drain(std::chrono::milliseconds time);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The first line of a file, for ServeOptions::token. Throws Error where it cannot be read, is empty
// or others than its owner may read it.
[[nodiscard]] std::string read_token(const std::string& path);

}  // namespace stoker
