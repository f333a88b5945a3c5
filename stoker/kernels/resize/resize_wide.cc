#include <algorithm>
#include <cstring>

#include "stoker/kernels/resize/detail/resize_weights.h"

namespace stoker::detail {
namespace {

// Values lie `step` apart.
template <class Value>
Value weighted_sum(const Value* values, std::size_t step, const std::int32_t* weights, int count) {
  std::int64_t sum = kHalfWeightSum;
  for (int i = 0; i < count; ++i) {
    sum += std::int64_t{values[static_cast<std::size_t>(i) * step]} * weights[i];
  }
  constexpr std::int64_t kMost = static_cast<Value>(~Value{0});
  return static_cast<Value>(std::clamp<std::int64_t>(sum >> kWeightOneBits, 0, kMost));
}

const std::int32_t* weights_of(const ResizeAxis& axis, int output) {
  return axis.weights.data() + static_cast<std::size_t>(output) * axis.stride;
}

template <class Value>
void wide_along_x(const MutableImageView& out, const ImageView& in, const ResizeAxis& axis) {
  const auto channels = static_cast<std::size_t>(in.shape.channels);
  for (int y = 0; y < out.shape.height; ++y) {
    Value* to = out.values<Value>(y);
    for (int x = 0; x < out.shape.width; ++x) {
      const Value* from = in.values<Value>(y) + axis.first[x] * channels;
      for (std::size_t c = 0; c < channels; ++c) {
        *to++ = weighted_sum(from + c, channels, weights_of(axis, x), axis.count[x]);
      }
    }
  }
}

template <class Value>
void wide_along_y(const MutableImageView& out, const ImageView& in, const ResizeAxis& axis) {
  const std::size_t step = in.bytes_per_row / sizeof(Value);
  for (int y = 0; y < out.shape.height; ++y) {
    Value* to = out.values<Value>(y);
    const Value* from = in.values<Value>(axis.first[y]);
    for (std::size_t i = 0; i < out.shape.values_per_row(); ++i) {
      to[i] = weighted_sum(from + i, step, weights_of(axis, y), axis.count[y]);
    }
  }
}

// The rows of the input that the first axis has to make for the second.
ImageView needed_rows(const ImageView& in, const ResizeAxis& axis, int outputs, int& first) {
  first = in.shape.height;
  int end = 0;
  for (int y = 0; y < outputs; ++y) {
    first = std::min(first, axis.first[y]);
    end = std::max(end, axis.first[y] + axis.count[y]);
  }
  ImageView rows = in;
  first = std::min(first, in.shape.height - 1);
  rows.data = in.row(first);
  rows.shape.height = std::max(end - first, 1);
  return rows;
}

}  // namespace

void resize_wide(const MutableImageView& out, const ImageView& in, const ResizeBox& box,
                 const ResizeOptions& options, ResizeScratch& scratch) {
  const ResizePlan plan = plan_resize(out.shape, in.shape, box, options.order);
  if (plan.x.is_copy() && plan.y.is_copy()) return copy_box(out, in, plan, options.mirror);
  if (options.filter == ResizeFilter::kNearest) {
    return resize_nearest(out, in, plan, options.mirror);
  }
  make_weights(scratch.x, plan.x, options, {.reversed = options.mirror});
  make_weights(scratch.y, plan.y, options, {});
  int first = 0;
  const ImageView rows = plan.y_first ? in : needed_rows(in, scratch.y, out.shape.height, first);
  ImageShape shape = rows.shape;
  (plan.y_first ? shape.height : shape.width) = plan.y_first ? out.shape.height : out.shape.width;
  if (scratch.between.size() < shape.bytes()) scratch.between.resize(shape.bytes());
  MutableImageView between{scratch.between.data(), shape, shape.bytes_per_row()};
  with_value_type(in.shape, [&]<class Value>(Value) {
    if (plan.y_first) {
      wide_along_y<Value>(between, rows, scratch.y);
      wide_along_x<Value>(out, between, scratch.x);
      return;
    }
    wide_along_x<Value>(between, rows, scratch.x);
    for (int y = 0; y < out.shape.height; ++y) scratch.y.first[y] -= first;
    wide_along_y<Value>(out, between, scratch.y);
  });
}

}  // namespace stoker::detail
