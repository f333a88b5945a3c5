#include "stoker/data/shards/shard_source.h"

#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "stoker/core/digest.h"
#include "stoker/core/invariant.h"
#include "stoker/data/detail/image_decode.h"

namespace stoker {
namespace {

std::shared_ptr<const ShardLayout> layout_of(const ShardManifest& manifest,
                                             const ShardOptions& options) {
  if (options.window == 0 || options.lanes == 0) {
    throw Error({.what = "cannot mix the shards",
                 .expected = "a window of 1 shard or more, 1 lane or more"});
  }
  std::vector<std::uint64_t> samples;
  for (const ShardFacts& shard : manifest.shards) samples.push_back(shard.samples);
  return std::make_shared<ShardLayout>(samples, options.window, options.lanes);
}

FolderOptions with_channels(FolderOptions images, const ShardManifest& manifest) {
  check_folder_options(images);
  if (manifest.shape) images.channels = manifest.shape->channels;
  return images;
}

}  // namespace

ShardSource::ShardSource(std::shared_ptr<const ShardSet> shards, const FolderOptions& images,
                         const ShardOptions& options)
    : shards_(std::move(shards)),
      images_(with_channels(images, shards_->manifest())),
      options_(options),
      layout_(layout_of(shards_->manifest(), options)),
      pool_(std::make_unique<ShardPool>(
          [set = shards_](std::uint32_t shard, const std::stop_token& stop) {
            return set->open(shard, stop);
          },
          shards_->remote() ? options.fetchers : 1)) {}

ImageShape ShardSource::shape() const {
  if (auto shape = shards_->manifest().shape) {
    shape->depth = images_.depth;
    return *shape;
  }
  throw images_differ(shards_->where());
}

std::string ShardSource::sample_name(std::uint64_t index) const {
  const auto [shard, sample] = layout_->place_of(index);
  return fmt::format("{}/{}#{}", shards_->where(), shards_->manifest().shards[shard].name, sample);
}

void ShardSource::expect(std::uint32_t lane, std::span<const std::uint32_t> shards) const noexcept {
  try {
    pool_->expect(lane, shards);
  } catch (...) {  // no memory for a hint
  }
}

ShardSource::Found ShardSource::find(std::uint64_t index, std::chrono::nanoseconds& waited) const {
  const auto [shard, sample] = layout_->place_of(index);
  Found found{.shard = pool_->get(shard, waited), .bytes = {}};
  const IndexedSample& indexed = found.shard->index.samples.at(sample);
  found.bytes = found.shard->file.bytes().subspan(indexed.offset, indexed.length);
  found.label = indexed.label;
  return found;
}

Result<ShardSource::Found> ShardSource::find_checked(std::uint64_t index,
                                                     std::chrono::nanoseconds& waited) const {
  try {
    Found found = find(index, waited);
    const IndexedSample& indexed = found.shard->index.samples[layout_->place_of(index).sample];
    if (digest64(found.bytes) == indexed.checksum) return found;
    return ErrorDetails{.what = "the sample is not what the index of its shard says",
                        .path = fmt::format("{} ({})", sample_name(index), indexed.name),
                        .expected = fmt::format("checksum {:016x}", indexed.checksum),
                        .found = fmt::format("{:016x}", digest64(found.bytes)),
                        .hint = "The shard is damaged: write or fetch it again."};
  } catch (const Error& error) {
    return error.details();
  }
}

Result<Sample> ShardSource::read(std::uint64_t index, SampleBuffer& buffer) const {
  return read_framed(index, {}, buffer);
}

Result<std::int64_t> ShardSource::label(std::uint64_t index, SampleBuffer& buffer) const {
  try {
    return std::int64_t{find(index, buffer.store_wait).label};
  } catch (const Error& error) {
    return error.details();
  }
}

Result<std::size_t> ShardSource::read_fields(std::uint64_t index, std::span<float> out) const {
  if (out.empty()) return out.size();
  try {
    std::chrono::nanoseconds waited{0};
    const auto [shard, sample] = layout_->place_of(index);
    pool_->get(shard, waited)->index.fields.read(sample, out);
    return out.size();
  } catch (const Error& error) {
    return error.details();
  }
}

Result<Sample> ShardSource::read_framed(std::uint64_t index, const FrameRequest& request,
                                        SampleBuffer& buffer) const {
  if (request.again) return decode_again(index, request, buffer);
  auto found = find_checked(index, buffer.store_wait);
  if (!found) return found.error();
  return decode_labelled(index, *found, request, buffer);
}

// Its bytes were checked with the first view.
Result<Sample> ShardSource::decode_again(std::uint64_t index, const FrameRequest& request,
                                         SampleBuffer& buffer) const {
  try {
    return decode_labelled(index, find(index, buffer.store_wait), request, buffer);
  } catch (const Error& error) {
    return error.details();
  }
}

Result<Sample> ShardSource::decode_labelled(std::uint64_t index, const Found& found,
                                            const FrameRequest& request,
                                            SampleBuffer& buffer) const {
  auto image = detail::decode_image(found.bytes, images_, request, buffer);
  if (!image) {
    ErrorDetails error = image.error();
    error.path = sample_name(index);
    return error;
  }
  const auto& shape = shards_->manifest().shape;
  if (request.framing == nullptr && shape && image->shape != *shape) {
    return ErrorDetails{.what = "the image has another shape than the manifest states",
                        .path = sample_name(index)};
  }
  return Sample{.image = *image, .label = found.label};
}

Result<std::span<const std::byte>> ShardSource::read_bytes(std::uint64_t index,
                                                           const MakeRoom& room) const {
  std::chrono::nanoseconds waited{0};
  auto found = find_checked(index, waited);
  if (!found) return found.error();
  const std::span<std::byte> out = room(sizeof found->label + found->bytes.size());
  std::memcpy(out.data(), &found->label, sizeof found->label);
  std::memcpy(out.data() + sizeof found->label, found->bytes.data(), found->bytes.size());
  return std::span<const std::byte>(out);
}

Result<Sample> ShardSource::decode(std::uint64_t index, std::span<const std::byte> bytes,
                                   const FrameRequest& request, SampleBuffer& buffer) const {
  Found found;
  STOKER_INVARIANT(bytes.size() >= sizeof found.label, "{} bytes of a sample", bytes.size());
  std::memcpy(&found.label, bytes.data(), sizeof found.label);
  found.bytes = bytes.subspan(sizeof found.label);
  return decode_labelled(index, found, request, buffer);
}

}  // namespace stoker
