#include "stoker/augment/framing.h"

#include <cstddef>

#include "stoker/core/error.h"

namespace stoker {

void apply_frame(const MutableImageView& out, const ImageView& in, const ResizeBox& box,
                 const Frame& frame, const FramingOptions& options, FramingScratch& scratch) {
  const ResizeOptions resize_options{.filter = frame.filter, .antialias = options.antialias};
  const bool whole = frame.cut.width == frame.width && frame.cut.height == frame.height;
  if (whole) {
    resize(out, in, box, resize_options, scratch.resize);
    return;
  }
  scratch.resized.reshape({frame.height, frame.width, in.shape.channels, in.shape.depth});
  resize(scratch.resized.view(), in, box, resize_options, scratch.resize);
  const ImageView resized = std::as_const(scratch.resized).view();
  const auto left = static_cast<std::size_t>(frame.cut.left);
  copy_pixels(out, {resized.row(frame.cut.top) + left * in.shape.bytes_per_pixel(), out.shape,
                    resized.bytes_per_row});
}

}  // namespace stoker
