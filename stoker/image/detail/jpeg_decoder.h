// JPEG through libjpeg-turbo: baseline, progressive and arithmetic, grey, colour, CMYK and YCCK.
// One a thread. Damage is an error: of libjpeg's warnings only those are let through that cost no
// pixel (jpeg_decoder.cc lists them). Only the rows and columns of the region are transformed to
// pixels, and nothing below it is read unless the file has several scans. Where the file has
// restart markers, intervals that the region does not need are not read either (jpeg_parts.h).
#pragma once

#include <memory>
#include <span>

#include "stoker/core/result.h"
#include "stoker/image/detail/codec.h"
#include "stoker/image/detail/jpeg_parts.h"

namespace stoker::detail {

struct JpegState;

class JpegDecoder {
 public:
  JpegDecoder();
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  [[nodiscard]] Result<StoredHeader> open(std::span<const std::byte> bytes);
  // Pixels lie in `memory`. At most max_scans scans are read.
  [[nodiscard]] Result<StoredPixels> decode(const StoredRequest& request, int max_scans,
                                            PixelBuffer& memory);

 private:
  [[nodiscard]] Result<StoredPixels> decode_opened(const StoredRequest& request,
                                                   PixelBuffer& memory);

  std::unique_ptr<JpegState> state_;
  JpegParts parts_;
};

}  // namespace stoker::detail
