// IsolatedPreprocessor: as Preprocessor for encoded images, but locked-down processes decode them
// (isolated_workers.h), for images that are not trusted. What a codec does that a file has taken
// over costs that image, and the process is replaced. The same bytes come out.
//
// Each decoder is a feed of its own, with one process, whose source waits for the next image. So an
// image that takes long holds up nobody but those that find no free decoder.
//
// encoded() may be called by any number of threads at once; as many as there are decoders work at
// the same time, the others wait. The object must outlive all calls.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "stoker/core/error.h"
#include "stoker/pipeline/feed.h"
#include "stoker/pipeline/preprocessor.h"

namespace stoker {

struct IsolatedOptions {
  int decoders = 0;  // 0: what the job may use, at least two
  IsolationLimits limits = {};
};

// The deadline has passed before a decoder was free.
class DecodersBusy : public Error {
 public:
  using Error::Error;
};

class IsolatedPreprocessor {
 public:
  using Clock = std::chrono::steady_clock;

  // Starts the processes. Throws Error where the options contradict each other, or none can start.
  IsolatedPreprocessor(const PreprocessOptions& options, const IsolatedOptions& isolation);
  ~IsolatedPreprocessor();
  IsolatedPreprocessor(const IsolatedPreprocessor&) = delete;
  IsolatedPreprocessor& operator=(const IsolatedPreprocessor&) = delete;

  // As Preprocessor::encoded(). Throws DecodersBusy, and std::runtime_error where processes cannot
  // be started any more. An image that has found a decoder is waited for, at most
  // IsolationLimits::sample_time, also beyond the deadline.
  void encoded(std::span<std::byte> out, std::span<const std::byte> file, const std::string& name,
               Clock::time_point deadline = Clock::time_point::max()) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stoker
