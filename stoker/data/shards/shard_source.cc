#include "stoker/data/shards/shard_source.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "stoker/core/digest.h"
#include "stoker/core/invariant.h"
#include "stoker/data/detail/image_decode.h"

namespace stoker {
namespace {

// As for images of a folder; checked before memory is taken.
constexpr std::uint32_t kMaxImageBytes = std::uint32_t{1} << 30;

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
      first_(std::make_unique<FirstSamples>(shards_, layout_, options)),
      pool_(std::make_unique<ShardPool>(
          [this](std::uint32_t shard, const std::stop_token& stop) { return open(shard, stop); },
          shards_->remote() ? options.fetchers : 1)) {}

// Both end what they have under way at the same time.
ShardSource::~ShardSource() { first_->stop(); }

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

void ShardSource::prefetch(std::uint64_t index) const noexcept {
  // The kernel reads more than it is asked for: smaller samples are there already, and a call for
  // each would cost more than it gains.
  constexpr std::uint32_t kLeastBytes = 16 << 10;
  try {
    const auto [shard, number] = layout_->place_of(index);
    if (shards_->manifest().shards[shard].samples * kLeastBytes >
        shards_->manifest().shards[shard].bytes) {
      return;
    }
    const ShardPool::Shard open = pool_->get_if_open(shard);
    if (open == nullptr) return;
    const IndexedSample& sample = open->index.samples.at(number);
    open->file.expect(sample.offset, sample.length);
  } catch (...) {  // no hint
  }
}

void ShardSource::expect(std::uint32_t lane, std::span<const std::uint32_t> shards) const noexcept {
  try {
    pool_->expect(lane, shards);
  } catch (...) {  // no memory for a hint
  }
}

void ShardSource::expect_first(std::span<const std::uint64_t> samples) const noexcept {
  try {
    first_->begin(samples);
  } catch (...) {  // no memory or thread for a hint
  }
}

ShardPool::Shard ShardSource::open(std::uint32_t shard, const std::stop_token& stop) const {
  if (!shards_->is_here(shard)) first_->let_pass(stop);
  try {
    auto opened = shards_->open(shard, stop);
    first_->drop(shard);
    return opened;
  } catch (...) {
    first_->drop(shard);
    throw;
  }
}

ShardSource::Found ShardSource::find(std::uint64_t index, std::chrono::nanoseconds& waited) const {
  const auto [shard, sample] = layout_->place_of(index);
  Found found{.shard = pool_->get(shard, waited)};
  found.sample = &found.shard->index.samples.at(sample);
  if (found.sample->length <= kMaxImageBytes) return found;
  throw Error({.what = "cannot read the sample",
               .path = sample_name(index),
               .expected = "at most a gigabyte",
               .found = fmt::format("{} bytes", found.sample->length)});
}

std::shared_ptr<const ShardIndex> ShardSource::index_of(std::uint32_t shard,
                                                        std::chrono::nanoseconds& waited) const {
  if (auto index = first_->index_of(shard)) return index;
  const ShardPool::Shard opened = pool_->get(shard, waited);
  return {opened, &opened->index};
}

// The bytes that are checked are those that are decoded: nobody can change the copy. A damaged file
// of the cache is brought again, once.
Result<std::span<const std::byte>> ShardSource::read_checked(
    std::uint64_t index, Found& found, std::span<std::byte> out,
    std::chrono::nanoseconds& waited) const {
  const auto read = [&] { return found.shard->file.read(found.sample->offset, out); };
  const auto is_right = [&](Result<std::span<const std::byte>>& bytes) {
    return bytes && digest64(*bytes) == found.sample->checksum;
  };
  auto bytes = read();
  if (is_right(bytes)) return bytes;
  const std::uint32_t shard = layout_->place_of(index).shard;
  if (shards_->is_damaged(shard, *found.shard)) {
    pool_->renew(shard, found.shard, [&] { shards_->discard(shard); });
    found = find(index, waited);
    bytes = read();
    if (is_right(bytes)) return bytes;
  }
  if (!bytes) return bytes;
  return ErrorDetails{.what = "the sample is not what the index of its shard says",
                      .path = fmt::format("{} ({})", sample_name(index), found.sample->name),
                      .expected = fmt::format("checksum {:016x}", found.sample->checksum),
                      .found = fmt::format("{:016x}", digest64(*bytes)),
                      .hint = "The shard is damaged: write or fetch it again."};
}

Result<ShardSource::Labelled> ShardSource::load(std::uint64_t index, const MakeRoom& room,
                                                std::chrono::nanoseconds& waited) const {
  if (const auto first = first_->take(index, waited)) {
    const std::span<std::byte> out = room(first->bytes.size());
    std::ranges::copy(first->bytes, out.begin());
    return Labelled{.bytes = out, .label = first->label};
  }
  Found found = find(index, waited);
  auto bytes = read_checked(index, found, room(found.sample->length), waited);
  if (!bytes) return bytes.error();
  return Labelled{.bytes = *bytes, .label = found.sample->label};
}

Result<Sample> ShardSource::read(std::uint64_t index, SampleBuffer& buffer) const {
  return read_framed(index, {}, buffer);
}

Result<std::int64_t> ShardSource::label(std::uint64_t index, SampleBuffer& buffer) const {
  try {
    return std::int64_t{find(index, buffer.store_wait).sample->label};
  } catch (const Error& error) {
    return error.details();
  }
}

Result<std::size_t> ShardSource::read_fields(std::uint64_t index, std::span<float> out) const {
  if (out.empty()) return out.size();
  try {
    std::chrono::nanoseconds waited{0};
    const auto [shard, sample] = layout_->place_of(index);
    index_of(shard, waited)->fields.read(sample, out);
    return out.size();
  } catch (const Error& error) {
    return error.details();
  }
}

Result<Sample> ShardSource::read_framed(std::uint64_t index, const FrameRequest& request,
                                        SampleBuffer& buffer) const {
  try {
    if (request.again) {  // the buffer has the bytes still
      const auto [shard, sample] = layout_->place_of(index);
      const std::int32_t label = index_of(shard, buffer.store_wait)->samples.at(sample).label;
      return decode_labelled(index, {.bytes = buffer.file, .label = label}, request, buffer);
    }
    const auto room = [&](std::size_t size) -> std::span<std::byte> {
      buffer.file.resize(size);
      return buffer.file;
    };
    auto labelled = load(index, room, buffer.store_wait);
    if (!labelled) return labelled.error();
    return decode_labelled(index, *labelled, request, buffer);
  } catch (const Error& error) {
    return error.details();
  }
}

Result<Sample> ShardSource::decode_labelled(std::uint64_t index, const Labelled& labelled,
                                            const FrameRequest& request,
                                            SampleBuffer& buffer) const {
  auto image = detail::decode_image(labelled.bytes, images_, request, buffer);
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
  return Sample{.image = *image, .label = labelled.label};
}

Result<std::span<const std::byte>> ShardSource::read_bytes(std::uint64_t index,
                                                           const MakeRoom& room) const {
  try {
    std::chrono::nanoseconds waited{0};
    std::span<std::byte> out;
    auto labelled = load(
        index,
        [&](std::size_t size) {
          out = room(sizeof(Labelled::label) + size);
          return out.subspan(sizeof(Labelled::label));
        },
        waited);
    if (!labelled) return labelled.error();
    std::memcpy(out.data(), &labelled->label, sizeof labelled->label);
    return std::span<const std::byte>(out);
  } catch (const Error& error) {
    return error.details();
  }
}

Result<Sample> ShardSource::decode(std::uint64_t index, std::span<const std::byte> bytes,
                                   const FrameRequest& request, SampleBuffer& buffer) const {
  Labelled labelled;
  STOKER_INVARIANT(bytes.size() >= sizeof labelled.label, "{} bytes of a sample", bytes.size());
  std::memcpy(&labelled.label, bytes.data(), sizeof labelled.label);
  labelled.bytes = bytes.subspan(sizeof labelled.label);
  return decode_labelled(index, labelled, request, buffer);
}

}  // namespace stoker
