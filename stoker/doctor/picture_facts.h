// All that one look at a picture file tells: whether it can be decoded to the last row, what it is,
// digests of its bytes and of its pixels, and a sketch for finding pictures that look alike.
// One PictureExaminer a thread: it keeps its memory from file to file. Costs a full decode.
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

enum class PictureState : std::uint8_t { kDecoded, kUnreadable, kTruncated, kTooLarge };

struct PictureFacts {
  PictureState state = PictureState::kUnreadable;
  std::string reason;                 // why it was not decoded
  std::optional<ImageFormat> format;  // by its first bytes
  std::optional<ImageHeader> header;
  std::string file_digest;   // of all bytes; empty where the file could not be read
  std::string pixel_digest;  // of size and upright RGB pixels; empty unless decoded
  bool blank = false;        // every pixel has the same colour
  int brightest = 255;       // of all values; only where it has 16 bits a value
  PictureSketch sketch;
};

class PictureExaminer {
 public:
  explicit PictureExaminer(const DecodeLimits& limits = {});

  // Never throws for what the file holds, nor where it cannot be read.
  [[nodiscard]] PictureFacts examine(const std::filesystem::path& path);

 private:
  void examine_bytes(PictureFacts& facts);
  void examine_pixels(PictureFacts& facts, const ImageView& pixels);

  DecodeLimits limits_;
  ImageDecoder decoder_;
  std::vector<std::byte> bytes_;
  ResizeScratch scratch_;
};

}  // namespace stoker
