// Preprocessor: one image becomes what a network takes, exactly as a feed makes it: the same code
// decodes, frames and normalises. For images that come one at a time, from anywhere.
//
// Every function may be called by any number of threads at once; each call has working memory of
// its own, which is kept for the next one.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/augment/policy.h"
#include "stoker/data/sources/folder_source.h"
#include "stoker/image/decode.h"
#include "stoker/image/image.h"
#include "stoker/kernels/normalise/normalise.h"
#include "stoker/pipeline/batch.h"

namespace stoker {

struct PreprocessOptions {
  ImageShape image = {};     // what comes out
  std::string framing = {};  // a policy that gives images this size; empty: they are resized
  Normalisation normalisation = {};        // of kF32
  std::optional<ValueWindow> window = {};  // of depth 16
  PixelType pixel_type = PixelType::kF32;  // kU8: of depth 8 alone
  bool channels_last = false;              // of kF32
  Colour background{255, 255, 255};        // under transparent images
  DecodeLimits limits = {};
};

class Preprocessor {
 public:
  // Throws Error where the options contradict each other.
  explicit Preprocessor(const PreprocessOptions& options);
  ~Preprocessor();
  Preprocessor(const Preprocessor&) = delete;
  Preprocessor& operator=(const Preprocessor&) = delete;

  [[nodiscard]] const PreprocessOptions& options() const noexcept;
  // Of the result.
  [[nodiscard]] std::size_t output_bytes() const noexcept;

  // All write to `out`, which has output_bytes(), and throw Error where the image cannot be used.
  // `name` is for messages.
  void encoded(std::span<std::byte> out, std::span<const std::byte> file,
               const std::string& name = "the image") const;
  void file(std::span<std::byte> out, const std::string& path) const;
  // Of 8 bits, of any channels that an image may have.
  void pixels(std::span<std::byte> out, const ImageView& image) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The policy that the options' framing means. Throws Error where it does not give their size.
[[nodiscard]] Policy resolved_framing(const PreprocessOptions& options);

// For a source that decodes the images.
[[nodiscard]] FolderOptions source_options(const PreprocessOptions& options);

// All bytes of an image's file. Throws Error where it cannot be read.
[[nodiscard]] std::vector<std::byte> read_image_file(const std::string& path);

}  // namespace stoker
