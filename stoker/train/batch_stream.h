// Where a training loop gets its batches from: a feed of images, or features that were kept.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "stoker/pipeline/faults.h"
#include "stoker/pipeline/feed_stats.h"

namespace stoker {

struct DeviceBatch {
  // (samples, channels, height, width), normalised float32; with several views of each sample,
  // their number stands second; or (samples, features) of a stream of features.
  at::Tensor values;
  // Classes (int64, one a sample) or, where samples have such a field (data/sources/source_task.h),
  // targets (float32, one for each output).
  at::Tensor labels;
  at::Tensor weights = {};                  // of the samples in the loss; not defined: all count 1
  std::uint64_t number = 0;                 // through all epochs
  std::vector<std::uint64_t> indices = {};  // of the samples in their source
};

class BatchStream {
 public:
  virtual ~BatchStream() = default;
  // In order; nothing at the end. The tensors are valid until the next call.
  [[nodiscard]] virtual std::optional<DeviceBatch> next() = 0;
  // In which next() waited for the workers.
  [[nodiscard]] virtual double waited_seconds() const noexcept = 0;
  // Samples that were replaced in the batches given so far.
  [[nodiscard]] virtual std::span<const SampleFault> faults() const noexcept = 0;
  // Of the feed behind it, where there is one.
  [[nodiscard]] virtual std::optional<FeedStats> feed_stats() const { return std::nullopt; }
};

}  // namespace stoker
