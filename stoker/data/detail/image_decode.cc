#include "stoker/data/detail/image_decode.h"

#include <optional>
#include <utility>

namespace stoker::detail {

Result<ImageView> decode_image(std::span<const std::byte> bytes, const FolderOptions& options,
                               const FrameRequest& request, SampleBuffer& buffer) {
  if (!buffer.decoder) buffer.decoder = std::make_unique<ImageDecoder>(options.limits);
  auto header = buffer.decoder->open(bytes);
  if (!header) return header.error();
  DecodeOptions decode{.channels = options.channels, .background = options.background};
  std::optional<Frame> frame;
  if (request.framing != nullptr) {
    Rng rng = Policy::framing_rng(request.key);
    frame = request.framing->draw(rng, header->width, header->height);
    decode.region = frame->region;
    decode.exact = request.options.exact_decode;
    decode.target_width = frame->width;
    decode.target_height = frame->height;
  }
  auto decoded = buffer.decoder->decode(decode);
  if (!decoded) return decoded.error();
  if (!frame) return ImageView(decoded->pixels);
  const RegionF& box = decoded->box;
  buffer.framed.reshape({frame->cut.height, frame->cut.width, options.channels});
  apply_frame(buffer.framed.view(), decoded->pixels,
              {box.left, box.top, box.left + box.width, box.top + box.height}, *frame,
              request.options, buffer.framing);
  return std::as_const(buffer.framed).view();
}

}  // namespace stoker::detail
