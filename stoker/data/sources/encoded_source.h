/// \file
/// Images as the bytes of their files, wherever these bytes come from: a base for data of your own.
/// A derived class has size(), class_names(), sample_name(), label() and read_bytes(); the rest is
/// as with a folder of images: no more is decoded than the frame needs, and worker processes
/// (FeedOptions::isolate) get bytes alone.
///
/// read_bytes() may give memory of its own, valid while the source lives, and leave `room` unused.
#pragma once

#include <mutex>
#include <optional>

#include "stoker/data/sources/folder_source.h"
#include "stoker/data/sources/source.h"
#include "stoker/export.h"

namespace stoker {

/// A source whose images are encoded. See the top of this file.
class STOKER_API EncodedSource : public Source {
 public:
  /// Throws Error where the options contradict each other.
  explicit EncodedSource(const FolderOptions& options = {});

  /// That of the first image; a policy without a framing makes all others an error that differ.
  [[nodiscard]] ImageShape shape() const override;
  [[nodiscard]] int channels() const override { return options_.channels; }
  [[nodiscard]] int depth() const override { return options_.depth; }
  [[nodiscard]] Result<Sample> read(std::uint64_t index, SampleBuffer& buffer) const override;
  [[nodiscard]] Result<Sample> read_framed(std::uint64_t index, const FrameRequest& request,
                                           SampleBuffer& buffer) const override;
  [[nodiscard]] Result<Sample> decode(std::uint64_t index, std::span<const std::byte> bytes,
                                      const FrameRequest& request,
                                      SampleBuffer& buffer) const override;
  /// Size of its encoded bytes, for who divides the data by it. Reads them unless overridden.
  [[nodiscard]] virtual std::uint64_t file_bytes(std::uint64_t index) const;
  /// Known without the pixels.
  [[nodiscard]] Result<std::int64_t> label(std::uint64_t index,
                                           SampleBuffer& buffer) const override = 0;

 protected:
  /// The pixels of an image's file.
  [[nodiscard]] Result<ImageView> decode_file(std::span<const std::byte> bytes,
                                              const FrameRequest& request,
                                              SampleBuffer& buffer) const;
  /// The part of an image that is decoded already.
  [[nodiscard]] Result<ImageView> frame_image(const ImageView& image, const FrameRequest& request,
                                              SampleBuffer& buffer) const;
  /// How the first image looks; throws Error where it cannot be read. Called once.
  [[nodiscard]] virtual ImageShape find_shape() const;

 private:
  [[nodiscard]] Result<ImageView> checked(const ImageView& image,
                                          const FrameRequest& request) const;

  FolderOptions options_;
  mutable std::once_flag shape_found_;
  mutable std::optional<ImageShape> shape_;
};

}  // namespace stoker
