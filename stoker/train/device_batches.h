// Batches of a feed as tensors on the device that computes.
//
// On a CPU the tensors are the feed's own memory: nothing is copied. On another device the next
// batch is copied while this one is computed: bytes cross (a quarter of the floats), from pinned
// memory, on a stream of their own, and become normalised floats there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <ATen/core/Tensor.h>

#include "stoker/pipeline/feed.h"

namespace stoker {

struct DeviceBatch {
  at::Tensor pixels;         // (samples, channels, height, width), normalised float32
  at::Tensor labels;         // int64
  std::uint64_t number = 0;  // through all epochs
};

// What a feed for this device must give: floats in host memory for a CPU, else bytes in pinned
// memory.
void prepare_feed_for(const at::Device& device, FeedOptions& options);

class DeviceBatches {
 public:
  // The feed must outlive this object.
  DeviceBatches(Feed& feed, const at::Device& device, const Normalisation& normalisation);
  ~DeviceBatches();

  // In order; nothing at the end. The tensors are valid until the next call.
  [[nodiscard]] std::optional<DeviceBatch> next();

  // In which next() waited for the workers.
  [[nodiscard]] double waited_seconds() const noexcept { return waited_seconds_; }

 private:
  struct Copy;  // on its way to the device
  [[nodiscard]] std::optional<Batch> take();
  [[nodiscard]] std::unique_ptr<Copy> start_copy();
  [[nodiscard]] at::Tensor normalised(const at::Tensor& bytes) const;

  Feed& feed_;
  at::Device device_;
  at::Tensor scale_, offset_;  // of bytes that become floats
  std::optional<Batch> held_;  // whose memory the tensors given last look at
  std::unique_ptr<Copy> ahead_;
  bool started_ = false;
  double waited_seconds_ = 0;
};

}  // namespace stoker
