#include "stoker/image/convert.h"

#include <utility>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/image/detail/rows.h"
#include "stoker/image/detail/wide_values.h"

namespace stoker {
namespace {

detail::RowFormat row_format_of(const ImageShape& shape) {
  check_shape(shape);
  if (shape.depth != 8) {
    throw Error({.what = "cannot use these pixels",
                 .expected = "values of 8 bits",
                 .found = fmt::format("{} bits", shape.depth)});
  }
  if (shape.channels == 1) return detail::RowFormat::kGrey;
  return shape.channels == 3 ? detail::RowFormat::kRgb : detail::RowFormat::kRgba;
}

}  // namespace

void convert_pixels(Image& out, const ImageView& in, const DecodeOptions& options) {
  const detail::RowFormat format = row_format_of(in.shape);
  ImageShape shape = in.shape;
  shape.channels = options.channels;
  const auto convert = [&](const MutableImageView& narrow) {
    for (int y = 0; y < shape.height; ++y) {
      detail::convert_row(narrow.row(y), in.row(y), static_cast<std::size_t>(shape.width), format,
                          options.channels, options.background);
    }
  };
  if (options.depth == 8) {
    out.reshape(shape);
    convert(out.view());
    return;
  }
  Image narrow(shape);
  convert(narrow.view());
  shape.depth = 16;
  out.reshape(shape);
  detail::widen(out.view(), std::as_const(narrow).view());
  if (options.window) detail::apply_window(out.view(), *options.window);
}

}  // namespace stoker
