// Sources for the tests of this module.
#pragma once

#include <atomic>
#include <stdexcept>

#include <fmt/format.h>

#include "stoker/core/gate.h"
#include "stoker/core/rng.h"
#include "stoker/data/sources/source.h"

namespace stoker::test {

// Images made up from their index; chosen ones cannot be read, or throw.
class MadeUpSource : public Source {
 public:
  explicit MadeUpSource(std::uint64_t size, ImageShape shape = {.height = 9, .width = 20})
      : size_(size), shape_(shape), classes_({"even", "odd"}) {}

  std::uint64_t unreadable = ~std::uint64_t{0};
  std::uint64_t throws = ~std::uint64_t{0};

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] ImageShape shape() const override { return shape_; }
  [[nodiscard]] const std::vector<std::string>& class_names() const override { return classes_; }
  [[nodiscard]] std::string sample_name(std::uint64_t index) const override {
    return fmt::format("made-up#{}", index);
  }
  [[nodiscard]] Result<Sample> read(std::uint64_t index, SampleBuffer& buffer) const override {
    if (index == unreadable) return ErrorDetails{.what = "damaged on purpose"};
    if (index == throws) throw std::runtime_error("thrown on purpose");
    buffer.decoded.reshape(shape_);
    Rng rng({.seed = 99, .sample = index}, 0);
    for (std::size_t i = 0; i < shape_.bytes(); ++i) {
      buffer.decoded.view().data[i] = static_cast<std::uint8_t>(rng.next_u32());
    }
    return Sample{.image = std::as_const(buffer.decoded).view(),
                  .label = static_cast<std::int64_t>(index % 2)};
  }

 private:
  std::uint64_t size_;
  ImageShape shape_;
  std::vector<std::string> classes_;
};

// A read that does not return until it is released, as from a file server that is gone.
class BlockingSource final : public MadeUpSource {
 public:
  BlockingSource(std::uint64_t size, std::uint64_t blocked)
      : MadeUpSource(size), blocked_(blocked) {}
  // Somebody reads it now.
  [[nodiscard]] bool is_waited_for() const { return waited_for_.load(); }
  void release() const {
    released_.store(true);
    gate_.notify_all();
  }

  [[nodiscard]] Result<Sample> read(std::uint64_t index, SampleBuffer& buffer) const override {
    wait(index);
    return MadeUpSource::read(index, buffer);
  }
  // Worker processes get their bytes from here, and no file of their own.
  [[nodiscard]] Result<std::span<const std::byte>> read_bytes(std::uint64_t index,
                                                              const MakeRoom& room) const override {
    wait(index);
    return std::span<const std::byte>(room(1));
  }
  [[nodiscard]] Result<Sample> decode(std::uint64_t index, std::span<const std::byte>,
                                      const FrameRequest&, SampleBuffer& buffer) const override {
    return MadeUpSource::read(index, buffer);
  }

 private:
  void wait(std::uint64_t index) const {
    if (index != blocked_) return;
    waited_for_.store(true);
    gate_.wait([this] { return released_.load(); });
  }

  std::uint64_t blocked_;
  mutable std::atomic<bool> released_{false}, waited_for_{false};
  mutable Gate gate_;
};

}  // namespace stoker::test
