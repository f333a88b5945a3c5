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
#include "stoker/train/batch_stream.h"

namespace stoker {

// What a feed of this source for this device must give: floats in host memory for a CPU, else
// bytes in pinned memory; of values of 16 bits floats too.
void prepare_feed_for(const at::Device& device, const Source& source, FeedOptions& options);

class DeviceBatches final : public BatchStream {
 public:
  // The feed must outlive this object.
  DeviceBatches(Feed& feed, const at::Device& device, const Normalisation& normalisation);
  ~DeviceBatches() override;

  [[nodiscard]] std::optional<DeviceBatch> next() override;
  [[nodiscard]] double waited_seconds() const noexcept override { return waited_seconds_; }
  [[nodiscard]] std::span<const SampleFault> faults() const noexcept override {
    return feed_.faults();
  }
  [[nodiscard]] std::optional<FeedStats> feed_stats() const override { return feed_.stats(); }

 private:
  struct Copy;  // on its way to the device
  [[nodiscard]] std::optional<Batch> take();
  [[nodiscard]] std::unique_ptr<Copy> start_copy();
  [[nodiscard]] at::Tensor normalised(const at::Tensor& bytes) const;
  [[nodiscard]] at::Tensor on_device(const Batch& batch) const;

  Feed& feed_;
  at::Device device_;
  at::Tensor scale_, offset_;  // of bytes that become floats
  std::optional<Batch> held_;  // whose memory the tensors given last look at
  std::unique_ptr<Copy> ahead_;
  bool started_ = false;
  double waited_seconds_ = 0;
};

}  // namespace stoker
