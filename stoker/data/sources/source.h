/// \file
/// Source: where labelled images lie. Position in memory, on disk or in a shard is the source's own
/// business; everybody else names a sample by its index in [0, size()).
///
/// Thread-safety: every member is const and may be called by any number of threads at once.
/// Memory: independent of the number of samples wherever the format allows it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/augment/policy.h"
#include "stoker/core/result.h"
#include "stoker/data/sources/fields.h"
#include "stoker/export.h"
#include "stoker/image/decode.h"
#include "stoker/image/image.h"

namespace stoker {

class ShardLayout;

/// One labelled image.
struct Sample {
  ImageView image;  ///< valid while the source lives and until the buffer is used again
  std::int64_t label = 0;
};

/// An image as it was decoded for several views, and what of it was decoded.
struct DecodedForViews {
  ImageHeader header;
  DecodedImage image;
  Region region;  ///< of the upright image
};

/// Working memory of one reader, for sources that have to decode; kept from sample to sample.
struct SampleBuffer {
  Image decoded;
  Image framed;
  FramingScratch framing;
  std::vector<std::byte> file;
  std::unique_ptr<ImageDecoder> decoder;  ///< made by the first that needs one
  DecodedForViews views;                  ///< of the sample read last
  /// Added to by a source that had to wait for a store that is not this machine's memory or disk;
  /// taken by whoever measures.
  std::chrono::nanoseconds store_wait{0};
};

/// How an image of any size becomes a sample.
struct FrameRequest {
  const FramingOperation* framing = nullptr;  ///< null: it stays as it is
  SampleKey key;                              ///< by which the framing draws
  FramingOptions options = {};
  /// By which the views after this one will draw. A source may decode at once what all need.
  std::span<const SampleKey> later = {};
  /// This is one of those: the buffer still holds the sample.
  bool again = false;
};

/// Gives memory for that many bytes, valid until it is called again; throws Error where there are
/// too many. A source that has the bytes in memory of its own need not call it.
using MakeRoom = std::function<std::span<std::byte>(std::size_t bytes)>;

/// Labelled images by index. Derive from it for data of your own: size(), shape(), class_names(),
/// sample_name() and read() suffice.
class STOKER_API Source {
 public:
  virtual ~Source() = default;

  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// The shape that all samples have. Throws Error where they differ: a framing is needed then.
  [[nodiscard]] virtual ImageShape shape() const = 0;
  [[nodiscard]] virtual int channels() const { return shape().channels; }
  /// Bits of a value; a source of images of 16 bits says so here.
  [[nodiscard]] virtual int depth() const { return 8; }
  /// Label i means class_names()[i].
  [[nodiscard]] virtual const std::vector<std::string>& class_names() const = 0;
  /// For messages: the file and the place in it.
  [[nodiscard]] virtual std::string sample_name(std::uint64_t index) const = 0;
  /// A hint that this sample will be read soon: its bytes may be brought nearer meanwhile.
  virtual void prefetch(std::uint64_t index) const noexcept { static_cast<void>(index); }
  /// How its samples lie in shards, of which few should be read at a time; null: anywhere.
  [[nodiscard]] virtual std::shared_ptr<const ShardLayout> layout() const { return nullptr; }
  /// A hint that reads will come to these shards, in about this order; replaces what was said of
  /// the same lane (shard_order.h) before.
  virtual void expect(std::uint32_t lane, std::span<const std::uint32_t> shards) const noexcept {
    static_cast<void>(lane), static_cast<void>(shards);
  }
  /// A hint that reads begin with these samples, in about this order. Said before the first read.
  virtual void expect_first(std::span<const std::uint64_t> samples) const noexcept {
    static_cast<void>(samples);
  }
  /// A sample that cannot be read is an error value: the caller decides whether to go on.
  [[nodiscard]] virtual Result<Sample> read(std::uint64_t index, SampleBuffer& buffer) const = 0;
  /// Without the pixels, where the source knows it without them.
  [[nodiscard]] virtual Result<std::int64_t> label(std::uint64_t index, SampleBuffer& buffer) const;
  /// What its samples carry besides image and label; empty where that is all.
  [[nodiscard]] virtual std::span<const FieldInfo> fields() const { return {}; }
  /// Writes the numbers of all fields of a sample, field after field. Gives how many:
  /// number_count(fields()), which is the length of `out`.
  [[nodiscard]] virtual Result<std::size_t> read_fields(std::uint64_t index,
                                                        std::span<float> out) const;
  /// The part of it that the framing draws, resized. Sources that decode do no more than that part.
  [[nodiscard]] virtual Result<Sample> read_framed(std::uint64_t index, const FrameRequest& request,
                                                   SampleBuffer& buffer) const;

  /// read_framed() in two steps, for decoding in a process that may not open files: the bytes of
  /// the sample as they lie in its file, and the sample from them. Sources whose samples lie in
  /// memory have no such bytes: the first step gives none and the second does everything.
  [[nodiscard]] virtual Result<std::span<const std::byte>> read_bytes(std::uint64_t index,
                                                                      const MakeRoom& room) const;
  [[nodiscard]] virtual Result<Sample> decode(std::uint64_t index, std::span<const std::byte> bytes,
                                              const FrameRequest& request,
                                              SampleBuffer& buffer) const;
};

/// What samples of this source look like under this policy. Throws Error where they would differ,
/// or where the policy does not take them.
[[nodiscard]] STOKER_API ImageShape sample_shape(const Source& source, const Policy& policy);

}  // namespace stoker
