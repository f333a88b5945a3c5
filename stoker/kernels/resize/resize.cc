#include "stoker/kernels/resize/resize.h"

#include <algorithm>
#include <cstring>

#include "stoker/kernels/resize/detail/resize_passes.h"
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {

using detail::AxisPlan;
using detail::kMostRowsAtOnce;
using detail::kReadBeyond;
using detail::ResizePasses;
using detail::ResizePlan;
using detail::RowGroup;

// What one call works with.
struct Call {
  MutableImageView out;
  ImageView in;
  ResizePlan plan;
  ResizeOptions options;
  const ResizePasses* passes;
  const ResizePasses* fallback;  // where `passes` cannot take these weights along x
};

std::size_t padded_row(std::size_t bytes, std::size_t beyond) {
  return (bytes + beyond + 63) / 64 * 64;
}

// ---- One axis

// Resizes rows along x, a few at a time.
class PassX {
 public:
  // scratch.x holds the weights.
  PassX(const Call& call, ResizeScratch& scratch) : passes_(call.passes) {
    const int width = call.out.shape.width, channels = call.out.shape.channels;
    if (!passes_->prepare_x(tables_, width, channels, scratch)) {
      passes_ = call.fallback;
      passes_->prepare_x(tables_, width, channels, scratch);
    }
  }

  [[nodiscard]] int rows_at_once() const noexcept { return passes_->rows_at_once; }
  void operator()(const RowGroup& group) const { passes_->along_x(group, tables_); }

 private:
  const ResizePasses* passes_;
  detail::TablesX tables_{};
};

void make_weights_x(const Call& call, ResizeScratch& scratch) {
  detail::make_weights(scratch.x, call.plan.x, call.options,
                       {.stride_unit = call.in.shape.channels == 1 ? 8 : 4,
                        .reversed = call.options.mirror,
                        .within_input = true});
}

// Output row y from input rows, of which number `first` is given.
void sum_rows(std::uint8_t* out, std::size_t bytes, const std::uint8_t* rows, std::size_t stride,
              const ResizeAxis& axis, int y, const ResizePasses& passes) {
  if (axis.count[y] == 0) {  // an empty box at the lower edge
    std::memset(out, 0, bytes);
    return;
  }
  passes.along_y(out, {.rows = rows,
                       .stride = stride,
                       .bytes = bytes,
                       .weights = axis.weights.data() + static_cast<std::size_t>(y) * axis.stride,
                       .count = axis.count[y]});
}

// ---- x first: input rows, resized along x when an output row needs them

// The input's rows, of which the last may not be read beyond their end and are copied.
class ReadableRows {
 public:
  ReadableRows(const ImageView& in, std::vector<std::uint8_t>& memory) : in_(in) {
    const int height = in.shape.height;
    const std::size_t gap = in.bytes_per_row;
    const std::size_t copies = std::min<std::size_t>(height, (kReadBeyond + gap - 1) / gap);
    first_copy_ = height - static_cast<int>(copies);
    copy_stride_ = in.shape.bytes_per_row() + kReadBeyond;
    copies_ = detail::aligned_memory(memory, copies * copy_stride_);
    for (int y = first_copy_; y < height; ++y) {
      std::memcpy(copies_ + (y - first_copy_) * copy_stride_, in.row(y), in.shape.bytes_per_row());
    }
  }

  [[nodiscard]] const std::uint8_t* row(int y) const noexcept {
    return y < first_copy_ ? in_.row(y) : copies_ + (y - first_copy_) * copy_stride_;
  }

 private:
  ImageView in_;
  int first_copy_;
  std::size_t copy_stride_;
  std::uint8_t* copies_;
};

// The rows that the output needs, from the first to behind the last.
struct RowRange {
  int begin, end;
};

class RowsAlongX {
 public:
  RowsAlongX(const Call& call, RowRange range, ResizeScratch& scratch)
      : input_(call.in, scratch.copies), pass_(call, scratch), range_(range), done_(range.begin) {
    stride_ = padded_row(call.out.shape.bytes_per_row(), detail::kWriteBeyond);
    rows_ = detail::aligned_memory(scratch.between,
                                   (range.end - range.begin + kMostRowsAtOnce) * stride_);
  }

  // Row `first`; those up to `end` follow it, `stride()` bytes apart. Asked for in rising order.
  [[nodiscard]] const std::uint8_t* rows(int first, int end) {
    done_ = std::max(done_, first);  // without antialiasing some rows are never needed
    for (; done_ < end; done_ += pass_.rows_at_once()) {
      RowGroup group{.rows = {}, .out = place(done_), .out_stride = stride_};
      for (int i = 0; i < kMostRowsAtOnce; ++i) {
        group.rows[i] = input_.row(std::min(done_ + i, range_.end - 1));
      }
      pass_(group);
    }
    return place(first);
  }
  [[nodiscard]] std::size_t stride() const noexcept { return stride_; }

 private:
  [[nodiscard]] std::uint8_t* place(int y) const noexcept {
    return rows_ + (y - range_.begin) * stride_;
  }

  ReadableRows input_;
  PassX pass_;
  RowRange range_;
  int done_;
  std::size_t stride_ = 0;
  std::uint8_t* rows_ = nullptr;
};

// Rows of an image that keeps its columns.
class RowsAsTheyAre {
 public:
  RowsAsTheyAre(const ImageView& in, int left) noexcept : in_(in), left_(left) {}
  [[nodiscard]] const std::uint8_t* rows(int first, int) const noexcept {
    return in_.row(first) + static_cast<std::size_t>(left_) * in_.shape.channels;
  }
  [[nodiscard]] std::size_t stride() const noexcept { return in_.bytes_per_row; }

 private:
  ImageView in_;
  int left_;
};

RowRange make_weights_y(const Call& call, ResizeAxis& axis) {
  const AxisPlan& plan = call.plan.y;
  if (plan.is_copy()) {
    const int begin = static_cast<int>(plan.begin);
    return {begin, begin + plan.out};
  }
  detail::make_weights(axis, plan, call.options, {});
  const int last = plan.out - 1;
  return {axis.first[0], axis.first[last] + axis.count[last]};
}

template <class Rows>
void finish_along_y(const Call& call, Rows& rows, const ResizeAxis& axis) {
  const std::size_t bytes = call.out.shape.bytes_per_row();
  const int top = static_cast<int>(call.plan.y.begin);
  for (int y = 0; y < call.out.shape.height; ++y) {
    if (call.plan.y.is_copy()) {
      std::memcpy(call.out.row(y), rows.rows(top + y, top + y + 1), bytes);
      continue;
    }
    const int first = axis.first[y];
    sum_rows(call.out.row(y), bytes, rows.rows(first, first + axis.count[y]), rows.stride(), axis,
             y, *call.passes);
  }
}

void resize_x_first(const Call& call, ResizeScratch& scratch) {
  const RowRange range = make_weights_y(call, scratch.y);
  // Rows shorter than a vector pass through the memory between, where they may be read whole.
  const bool keeps_columns = call.plan.x.is_copy() && !call.options.mirror &&
                             call.out.shape.bytes_per_row() >= call.passes->vector_bytes;
  if (keeps_columns) {
    RowsAsTheyAre rows(call.in, static_cast<int>(call.plan.x.begin));
    return finish_along_y(call, rows, scratch.y);
  }
  make_weights_x(call, scratch);
  RowsAlongX rows(call, range, scratch);
  finish_along_y(call, rows, scratch.y);
}

// ---- y first: output rows of the input's columns, resized along x as soon as there are a few

// The columns that the weights along x need; the axis then counts from the first of them.
ImageView needed_columns(const ImageView& in, ResizeAxis& axis, int outputs) {
  const auto [low, high] = std::minmax(axis.first[0], axis.first[outputs - 1]);
  const int begin = low, end = std::min(high + axis.stride, in.shape.width);
  for (int x = 0; x < outputs; ++x) axis.first[x] -= begin;
  ImageView columns = in;
  columns.data += static_cast<std::size_t>(begin) * in.shape.channels;
  columns.shape.width = end - begin;
  return columns;
}

// The same image, with rows of at least `bytes` that may be read.
ImageView with_rows_of(std::size_t bytes, const ImageView& in, std::vector<std::uint8_t>& memory) {
  const std::size_t row_bytes = in.shape.bytes_per_row();
  if (row_bytes >= bytes) return in;
  std::uint8_t* copy = detail::aligned_memory(memory, bytes * in.shape.height);
  for (int y = 0; y < in.shape.height; ++y) std::memcpy(copy + y * bytes, in.row(y), row_bytes);
  return {.data = copy, .shape = in.shape, .bytes_per_row = bytes};
}

void resize_y_first(const Call& call, ResizeScratch& scratch) {
  make_weights_x(call, scratch);
  detail::make_weights(scratch.y, call.plan.y, call.options, {});
  const ImageView in =
      with_rows_of(call.passes->vector_bytes,
                   needed_columns(call.in, scratch.x, call.out.shape.width), scratch.copies);
  const PassX pass(call, scratch);
  const std::size_t in_bytes = in.shape.bytes_per_row(), out_bytes = call.out.shape.bytes_per_row();
  const std::size_t in_stride = padded_row(in_bytes, kReadBeyond);
  const std::size_t out_stride = padded_row(out_bytes, detail::kWriteBeyond);
  std::uint8_t* summed =
      detail::aligned_memory(scratch.between, kMostRowsAtOnce * (in_stride + out_stride));
  std::uint8_t* finished = summed + kMostRowsAtOnce * in_stride;

  RowGroup group{.rows = {}, .out = finished, .out_stride = out_stride};
  for (int i = 0; i < kMostRowsAtOnce; ++i) group.rows[i] = summed + i * in_stride;
  const int height = call.out.shape.height;
  for (int y = 0; y < height; y += pass.rows_at_once()) {
    const int count = std::min(pass.rows_at_once(), height - y);
    for (int i = 0; i < count; ++i) {
      const std::uint8_t* rows = in.row(scratch.y.first[y + i]);
      sum_rows(summed + i * in_stride, in_bytes, rows, in.bytes_per_row, scratch.y, y + i,
               *call.passes);
    }
    pass(group);
    for (int i = 0; i < count; ++i) {
      std::memcpy(call.out.row(y + i), finished + i * out_stride, out_bytes);
    }
  }
}

}  // namespace

void resize(const MutableImageView& out, const ImageView& in, const ResizeBox& box,
            const ResizeOptions& options, ResizeScratch& scratch) {
  if (in.shape.wide()) return detail::resize_wide(out, in, box, options, scratch);
  const ResizePasses* simd = detail::resize_passes_simd();
  if (detail::use_reference_kernels() || simd == nullptr) {
    return resize_reference(out, in, box, options);
  }
  const ResizePlan plan = detail::plan_resize(out.shape, in.shape, box, options.order);
  if (plan.x.is_copy() && plan.y.is_copy()) {
    return detail::copy_box(out, in, plan, options.mirror);
  }
  if (options.filter == ResizeFilter::kNearest) {
    return detail::resize_nearest(out, in, plan, options.mirror);
  }
  const ResizePasses* vnni = detail::use_vnni_kernels() ? detail::resize_passes_vnni() : nullptr;
  const Call call{.out = out,
                  .in = in,
                  .plan = plan,
                  .options = options,
                  .passes = vnni == nullptr ? simd : vnni,
                  .fallback = simd};
  if (plan.y_first && !plan.x.is_copy() && !plan.y.is_copy()) {
    resize_y_first(call, scratch);
  } else {
    resize_x_first(call, scratch);
  }
}

}  // namespace stoker
