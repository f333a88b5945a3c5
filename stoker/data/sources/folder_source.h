/// \file
/// Images in a folder, list or table as a source. Each is read and decoded when it is asked for,
/// and no more of it than the frame needs. Memory: the listing, about 100 bytes an image.
#pragma once

#include <optional>

#include "stoker/data/sources/image_folder.h"
#include "stoker/data/sources/source.h"
#include "stoker/export.h"

namespace stoker {

/// How images of a folder are decoded.
struct FolderOptions {
  int channels = 3;  ///< 1: grey, 3: RGB, 4: RGBA
  DecodeLimits limits = {};
  Colour background{255, 255, 255};  ///< under transparent images
  int page = 0;                      ///< of a TIFF file with several, counted from 0
  int depth = 8;                     ///< bits of a value: 8 or 16
  /// With depth 16: the values that become black and white. Where it is each image's own, images
  /// are always decoded whole.
  std::optional<ValueWindow> window = {};
};

/// Throws Error where they contradict each other.
STOKER_API void check_folder_options(const FolderOptions& options);

/// The images of a listing.
class STOKER_API FolderSource final : public Source {
 public:
  explicit FolderSource(ImageListing listing, const FolderOptions& options = {});

  [[nodiscard]] std::uint64_t size() const override { return listing_.images.size(); }
  [[nodiscard]] ImageShape shape() const override;
  [[nodiscard]] int channels() const override { return options_.channels; }
  [[nodiscard]] int depth() const override { return options_.depth; }
  [[nodiscard]] const std::vector<std::string>& class_names() const override {
    return listing_.class_names;
  }
  [[nodiscard]] std::string sample_name(std::uint64_t index) const override;
  /// The whole image, upright, in its own size.
  [[nodiscard]] Result<Sample> read(std::uint64_t index, SampleBuffer& buffer) const override;
  [[nodiscard]] Result<Sample> read_framed(std::uint64_t index, const FrameRequest& request,
                                           SampleBuffer& buffer) const override;
  [[nodiscard]] Result<std::span<const std::byte>> read_bytes(std::uint64_t index,
                                                              const MakeRoom& room) const override;
  [[nodiscard]] Result<Sample> decode(std::uint64_t index, std::span<const std::byte> bytes,
                                      const FrameRequest& request,
                                      SampleBuffer& buffer) const override;
  [[nodiscard]] Result<std::int64_t> label(std::uint64_t index, SampleBuffer&) const override {
    return std::int64_t{listing_.images.at(index).label};
  }
  [[nodiscard]] std::span<const FieldInfo> fields() const override {
    return listing_.fields.fields();
  }
  [[nodiscard]] Result<std::size_t> read_fields(std::uint64_t index,
                                                std::span<float> out) const override;
  [[nodiscard]] const ImageListing& listing() const noexcept { return listing_; }
  [[nodiscard]] const FolderOptions& options() const noexcept { return options_; }

 private:
  [[nodiscard]] ErrorDetails with_line(ErrorDetails error, std::uint64_t index) const;

  ImageListing listing_;
  FolderOptions options_;
};

/// What shape() throws where images may differ in size.
[[nodiscard]] STOKER_API Error images_differ(const std::string& where);

}  // namespace stoker
