// Images in tar shards as a source. A sample's bytes are read from their file when it is asked for,
// and compared with their checksum. Which shards are open, fetched and given up again is the
// pool's; the first samples of a remote source may come before their shards (first_samples.h).
// Memory: the manifest (some 100 bytes a shard), the indexes of two windows of shards, and at first
// those samples.
#pragma once

#include <memory>

#include "stoker/data/order/shard_order.h"
#include "stoker/data/shards/first_samples.h"
#include "stoker/data/shards/shard_pool.h"
#include "stoker/data/shards/shard_set.h"
#include "stoker/data/sources/folder_source.h"
#include "stoker/data/sources/source.h"

namespace stoker {

class ShardSource final : public Source {
 public:
  ShardSource(std::shared_ptr<const ShardSet> shards, const FolderOptions& images,
              const ShardOptions& options);
  ~ShardSource() override;
  ShardSource(const ShardSource&) = delete;
  ShardSource& operator=(const ShardSource&) = delete;

  [[nodiscard]] std::uint64_t size() const override { return layout_->samples(); }
  // Throws Error where the manifest states none.
  [[nodiscard]] ImageShape shape() const override;
  [[nodiscard]] int channels() const override { return images_.channels; }
  [[nodiscard]] int depth() const override { return images_.depth; }
  [[nodiscard]] const std::vector<std::string>& class_names() const override {
    return shards_->manifest().class_names;
  }
  // "<store>/shard-000003.tar#17"
  [[nodiscard]] std::string sample_name(std::uint64_t index) const override;
  // A disk begins to read a sample while the one before it is decoded.
  void prefetch(std::uint64_t index) const noexcept override;
  [[nodiscard]] std::shared_ptr<const ShardLayout> layout() const override { return layout_; }
  void expect(std::uint32_t lane, std::span<const std::uint32_t> shards) const noexcept override;
  void expect_first(std::span<const std::uint64_t> samples) const noexcept override;
  [[nodiscard]] Result<Sample> read(std::uint64_t index, SampleBuffer& buffer) const override;
  [[nodiscard]] Result<std::int64_t> label(std::uint64_t index,
                                           SampleBuffer& buffer) const override;
  [[nodiscard]] std::span<const FieldInfo> fields() const override {
    return shards_->manifest().fields;
  }
  [[nodiscard]] Result<std::size_t> read_fields(std::uint64_t index,
                                                std::span<float> out) const override;
  [[nodiscard]] Result<Sample> read_framed(std::uint64_t index, const FrameRequest& request,
                                           SampleBuffer& buffer) const override;
  // The label, then the image's bytes: a process that may not open files has no index.
  [[nodiscard]] Result<std::span<const std::byte>> read_bytes(std::uint64_t index,
                                                              const MakeRoom& room) const override;
  [[nodiscard]] Result<Sample> decode(std::uint64_t index, std::span<const std::byte> bytes,
                                      const FrameRequest& request,
                                      SampleBuffer& buffer) const override;
  [[nodiscard]] const ShardSet& shards() const noexcept { return *shards_; }
  [[nodiscard]] std::string where() const { return shards_->where(); }
  [[nodiscard]] const ShardManifest& manifest() const noexcept { return shards_->manifest(); }
  // These shards alone, by their places in the manifest; at least one.
  [[nodiscard]] std::shared_ptr<const ShardSource> part(
      std::span<const std::uint32_t> shards) const {
    return std::make_shared<ShardSource>(shards_->part(shards), images_, options_);
  }

 private:
  struct Found {
    ShardPool::Shard shard;
    const IndexedSample* sample = nullptr;  // of the shard's index
  };
  [[nodiscard]] ShardPool::Shard open(std::uint32_t shard, const std::stop_token& stop) const;
  [[nodiscard]] Found find(std::uint64_t index, std::chrono::nanoseconds& waited) const;
  // It may be here before its shard.
  [[nodiscard]] std::shared_ptr<const ShardIndex> index_of(std::uint32_t shard,
                                                           std::chrono::nanoseconds& waited) const;
  // The sample's bytes into `out`, which has their length.
  [[nodiscard]] Result<std::span<const std::byte>> read_checked(
      std::uint64_t index, Found& found, std::span<std::byte> out,
      std::chrono::nanoseconds& waited) const;
  struct Labelled {
    std::span<const std::byte> bytes;
    std::int32_t label = -1;
  };
  // The bytes lie in what `room` gave.
  [[nodiscard]] Result<Labelled> load(std::uint64_t index, const MakeRoom& room,
                                      std::chrono::nanoseconds& waited) const;
  [[nodiscard]] Result<Sample> decode_labelled(std::uint64_t index, const Labelled& labelled,
                                               const FrameRequest& request,
                                               SampleBuffer& buffer) const;

  std::shared_ptr<const ShardSet> shards_;
  FolderOptions images_;
  ShardOptions options_;
  std::shared_ptr<const ShardLayout> layout_;
  std::unique_ptr<FirstSamples> first_;
  std::unique_ptr<ShardPool> pool_;  // last: its threads use all of this
};

}  // namespace stoker
