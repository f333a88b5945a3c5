// The file that a sample becomes in a shard: the bytes as they are, unless there are none or they
// shall be smaller. One encoder a thread.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "stoker/core/digest.h"
#include "stoker/data/sources/source.h"

namespace stoker::detail {

struct EncodeOptions {
  int max_side = 0;  // 0: no limit
  int quality = 0;   // 0: only images that are shrunk are encoded, at 90
  bool jpeg_index =
      false;  // JPEGs in the form of image/jpeg_index.h, where they have one and grow little
  DecodeLimits limits = {};
};

class ImageEncoder {
 public:
  explicit ImageEncoder(const EncodeOptions& options) : options_(options) {}

  struct File {
    std::span<const std::byte> bytes;  // valid until the next call
    std::string_view extension;
  };
  // Samples without a file become PNG. Throws Error, with the sample's name.
  // The content of the source, before it is encoded, is added to `content`.
  [[nodiscard]] File file_of(const Source& source, std::uint64_t index, SampleBuffer& buffer,
                             Digest& content);
  // Only that: whether the sample is still what it was.
  void add_content(const Source& source, std::uint64_t index, SampleBuffer& buffer,
                   Digest& content);

 private:
  // Empty where the sample has no file.
  [[nodiscard]] std::span<const std::byte> read_file(const Source& source, std::uint64_t index);
  [[nodiscard]] bool keeps(const ImageHeader& header) const;
  [[nodiscard]] File encode_anew(const ImageHeader& header, ImageDecoder& decoder);
  [[nodiscard]] File encoded(const ImageHeader& header, std::span<const std::byte> bytes,
                             ImageDecoder& decoder);

  EncodeOptions options_;
  std::vector<std::byte> read_, encoded_, indexed_;
};

}  // namespace stoker::detail
