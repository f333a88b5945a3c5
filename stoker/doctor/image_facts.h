// All that one look at an image file tells: whether it can be decoded to the last row, what it is,
// digests of its bytes and of its pixels, and a sketch for finding images that look alike.
// One ImageExaminer a thread: it keeps its memory from file to file. Costs a full decode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "stoker/doctor/perceptual_hash.h"
#include "stoker/image/decode.h"

namespace stoker {

enum class DecodeState : std::uint8_t { kDecoded, kUnreadable, kTruncated, kTooLarge };

struct ImageFacts {
  DecodeState state = DecodeState::kUnreadable;
  std::string reason;                 // why it was not decoded
  std::optional<ImageFormat> format;  // by its first bytes
  std::optional<ImageHeader> header;
  std::string file_digest;   // of all bytes; empty where the file could not be read
  std::string pixel_digest;  // of size and upright RGB pixels; empty unless decoded
  bool blank = false;        // every pixel has the same colour
  int brightest = 255;       // of all values; only where it has 16 bits a value
  ImageSketch sketch;
};

class ImageExaminer {
 public:
  explicit ImageExaminer(const DecodeLimits& limits = {});

  // Never throws for what the file holds, nor where it cannot be read.
  [[nodiscard]] ImageFacts examine(const std::filesystem::path& path);

 private:
  void examine_bytes(ImageFacts& facts);
  void examine_pixels(ImageFacts& facts, const ImageView& pixels);

  DecodeLimits limits_;
  ImageDecoder decoder_;
  std::vector<std::byte> bytes_;
  ResizeScratch scratch_;
};

}  // namespace stoker
