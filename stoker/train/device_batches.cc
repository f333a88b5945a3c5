#include "stoker/train/device_batches.h"

#include <chrono>

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "stoker/core/invariant.h"

namespace stoker {
namespace {

// Memory that a device reads by itself, while the CPU goes on.
class PinnedMemory final : public BatchMemory {
 public:
  explicit PinnedMemory(std::size_t bytes)
      : tensor_(at::empty({static_cast<std::int64_t>(bytes)},
                          at::TensorOptions(at::kByte).pinned_memory(true))) {}
  [[nodiscard]] std::span<std::byte> bytes() noexcept override {
    return {static_cast<std::byte*>(tensor_.data_ptr()), tensor_.nbytes()};
  }

 private:
  at::Tensor tensor_;
};

at::Tensor pixels_of(const Batch& batch) {
  const ImageShape& shape = batch.image_shape();
  void* data = const_cast<std::byte*>(batch.pixels().data());
  const bool floats = batch.pixel_type() == PixelType::kF32;
  const bool channels_last = !floats || batch.layout().channels_last();
  std::vector<std::int64_t> sides = {shape.height, shape.width, shape.channels};
  if (!channels_last) sides = {shape.channels, shape.height, shape.width};
  if (batch.views() > 1) sides.insert(sides.begin(), batch.views());
  sides.insert(sides.begin(), batch.size());
  const at::Tensor pixels = at::from_blob(data, sides, floats ? at::kFloat : at::kByte);
  return floats && channels_last ? pixels.movedim(-1, -3) : pixels;
}

// Those of a field of the source, (samples, numbers); not defined where it has no such field.
at::Tensor numbers_of(const Batch& batch, std::string_view field) {
  const FieldInfo* info = find_field(batch.layout().numbers(), field);
  if (info == nullptr) return {};
  return at::from_blob(const_cast<float*>(batch.numbers(field).data()),
                       {batch.size(), static_cast<std::int64_t>(info->values.size())}, at::kFloat);
}

at::Tensor weights_of(const Batch& batch) {
  const at::Tensor weights = numbers_of(batch, kWeightField);
  return weights.defined() ? weights.squeeze(1) : weights;
}

at::Tensor labels_of(const Batch& batch) {
  for (const std::string_view field : {kTargetField, kClassesField}) {
    if (at::Tensor targets = numbers_of(batch, field); targets.defined()) return targets;
  }
  return at::from_blob(const_cast<std::int64_t*>(batch.labels().data()), {batch.size()}, at::kLong);
}

std::vector<std::uint64_t> indices_of(const Batch& batch) {
  return {batch.indices().begin(), batch.indices().end()};
}

at::Tensor per_channel(const std::array<float, kMaxChannels>& values, int channels,
                       const at::Device& device) {
  return at::tensor(at::ArrayRef<float>(values.data(), static_cast<std::size_t>(channels)))
      .reshape({1, channels, 1, 1})
      .to(device);
}

}  // namespace

// The stream and the event exist only where the device has such things.
struct DeviceBatches::Copy {
  explicit Copy(Batch taken) : host(std::move(taken)) {}
  // An error may end it before anybody has waited, even before the event is recorded.
  ~Copy() {
    try {
      finish();
    } catch (const std::exception&) {
      // What the device complains of, it says again when it is asked next.
    }
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  // The device has read the host's memory.
  void finish() {
    if (done) {
      done->synchronize();
    } else if (stream) {
      stream->synchronize();
    }
    done.reset();
    stream.reset();
  }

  Batch host;  // goes back to the workers when this ends
  DeviceBatch batch = {};
  std::optional<c10::Stream> stream = {};
  std::optional<c10::Event> done = {};
};

void prepare_feed_for(const at::Device& device, const Source& source, FeedOptions& options) {
  const bool floats = device.is_cpu() || source.depth() != 8;
  options.pixel_type = floats ? PixelType::kF32 : PixelType::kU8;
  if (!device.is_cpu()) {
    options.make_memory = [](std::size_t bytes) { return std::make_unique<PinnedMemory>(bytes); };
  }
}

DeviceBatches::DeviceBatches(Feed& feed, const at::Device& device,
                             const Normalisation& normalisation)
    : feed_(feed), device_(device) {
  STOKER_INVARIANT(
      device.is_cpu() || feed.pixel_type() == PixelType::kU8 || feed.image_shape().depth != 8,
      "a feed of floats for {}: see prepare_feed_for", device.str());
  const int channels = feed.image_shape().channels;
  scale_ = per_channel(normalisation.scale, channels, device);
  offset_ = per_channel(normalisation.offset, channels, device);
}

DeviceBatches::~DeviceBatches() = default;

std::optional<Batch> DeviceBatches::take() {
  const auto before = std::chrono::steady_clock::now();
  auto batch = feed_.next();
  waited_seconds_ +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  return batch;
}

// The same two roundings as the kernel `normalise` has.
at::Tensor DeviceBatches::normalised(const at::Tensor& bytes) const {
  return bytes.movedim(-1, -3).to(at::kFloat).mul_(scale_).add_(offset_);
}

at::Tensor DeviceBatches::on_device(const Batch& batch) const {
  const at::Tensor copied = pixels_of(batch).to(device_, /*non_blocking=*/true);
  return batch.pixel_type() == PixelType::kF32 ? copied : normalised(copied);
}

std::unique_ptr<DeviceBatches::Copy> DeviceBatches::start_copy() {
  auto host = take();
  if (!host) return nullptr;
  auto copy = std::make_unique<Copy>(std::move(*host));
  const auto copied = [&](const at::Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    return tensor.to(device_, /*non_blocking=*/true, /*copy=*/true);
  };
  const auto copy_tensors = [&] {
    copy->batch = {.values = on_device(copy->host),
                   .labels = copied(labels_of(copy->host)),
                   .weights = copied(weights_of(copy->host)),
                   .number = copy->host.number(),
                   .indices = indices_of(copy->host)};
  };
  if (device_.is_cpu()) {
    copy_tensors();
    return copy;
  }
  const c10::impl::VirtualGuardImpl guard(device_.type());
  copy->stream = guard.getStreamFromGlobalPool(device_, /*isHighPriority=*/false);
  {
    const c10::StreamGuard on_side_stream(*copy->stream);
    copy_tensors();
    c10::Event done(device_.type());
    done.record(*copy->stream);
    copy->done.emplace(std::move(done));
  }
  return copy;
}

std::optional<DeviceBatch> DeviceBatches::next() {
  held_.reset();
  if (device_.is_cpu() && feed_.pixel_type() == PixelType::kF32) {
    held_ = take();
    if (!held_) return std::nullopt;
    return DeviceBatch{.values = pixels_of(*held_),
                       .labels = labels_of(*held_),
                       .weights = weights_of(*held_),
                       .number = held_->number(),
                       .indices = indices_of(*held_)};
  }
  if (!started_) ahead_ = start_copy();
  started_ = true;
  if (!ahead_) return std::nullopt;
  std::unique_ptr<Copy> current = std::move(ahead_);
  if (current->done) {
    // The computation waits on the device; the allocator learns that it uses the tensors too.
    const c10::impl::VirtualGuardImpl guard(device_.type());
    const c10::Stream compute = guard.getStream(device_);
    current->done->block(compute);
    current->batch.values.record_stream(compute);
    current->batch.labels.record_stream(compute);
    if (current->batch.weights.defined()) current->batch.weights.record_stream(compute);
  }
  ahead_ = start_copy();
  // By now the copy has been made, or is waited for: its memory goes back to the workers.
  current->finish();
  return current->batch;
}

}  // namespace stoker
