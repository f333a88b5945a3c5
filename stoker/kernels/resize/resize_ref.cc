#include <algorithm>
#include <vector>

#include "stoker/core/error.h"
#include "stoker/kernels/resize/detail/resize_weights.h"

namespace stoker {
namespace {

using detail::AxisPlan;
using detail::AxisSampling;

double filter_value(ResizeFilter filter, double x) {
  switch (filter) {
    case ResizeFilter::kBox:
      return detail::BoxFilter()(x);
    case ResizeFilter::kBilinear:
      return detail::BilinearFilter()(x);
    case ResizeFilter::kBicubic:
      return detail::BicubicFilter()(x);
    default:
      return detail::LanczosFilter()(x);
  }
}

struct Taps {
  int first = 0;
  std::vector<std::int32_t> weights;
};

std::vector<Taps> axis_taps(const AxisPlan& plan, const ResizeOptions& options) {
  const AxisSampling sampling(plan, detail::filter_support(options.filter), options.antialias);
  std::vector<Taps> all(plan.out);
  for (int x = 0; x < plan.out; ++x) {
    const double centre = sampling.centre(x);
    all[x].first = sampling.first(centre);
    std::vector<double> weights;
    double sum = 0;
    for (int i = all[x].first; i < sampling.end(centre); ++i) {
      weights.push_back(
          filter_value(options.filter, (i - centre + 0.5) * (1.0 / sampling.stretch)));
      sum += weights.back();
    }
    for (const double weight : weights) {
      all[x].weights.push_back(detail::fixed_weight(sum == 0 ? weight : weight / sum));
    }
  }
  return all;
}

// Values lie `step` apart. The sums of 8-bit values stay below 2^31, those of 16 bits need more.
template <class Value>
Value weighted(const Value* values, std::size_t step, const Taps& taps) {
  std::int64_t sum = detail::kHalfWeightSum;
  for (std::size_t i = 0; i < taps.weights.size(); ++i) {
    sum += std::int64_t{values[i * step]} * taps.weights[i];
  }
  constexpr std::int64_t kMost = static_cast<Value>(~Value{0});
  return static_cast<Value>(std::clamp<std::int64_t>(sum >> detail::kWeightOneBits, 0, kMost));
}

template <class Value>
void along_x(const MutableImageView& out, const ImageView& in, const std::vector<Taps>& taps) {
  const int channels = in.shape.channels;
  for (int y = 0; y < out.shape.height; ++y) {
    for (int x = 0; x < out.shape.width; ++x) {
      for (int c = 0; c < channels; ++c) {
        out.values<Value>(y)[x * channels + c] =
            weighted(in.values<Value>(y) + taps[x].first * channels + c, channels, taps[x]);
      }
    }
  }
}

template <class Value>
void along_y(const MutableImageView& out, const ImageView& in, const std::vector<Taps>& taps) {
  for (int y = 0; y < out.shape.height; ++y) {
    for (std::size_t i = 0; i < out.shape.values_per_row(); ++i) {
      out.values<Value>(y)[i] =
          weighted(in.values<Value>(taps[y].first) + i, in.bytes_per_row / sizeof(Value), taps[y]);
    }
  }
}

}  // namespace

namespace detail {

void copy_box(const MutableImageView& out, const ImageView& in, const ResizePlan& plan,
              bool mirror) {
  const std::size_t pixel = in.shape.bytes_per_pixel();
  const int width = out.shape.width;
  const int left = static_cast<int>(plan.x.begin), top = static_cast<int>(plan.y.begin);
  for (int y = 0; y < out.shape.height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int from = left + (mirror ? width - 1 - x : x);
      std::copy_n(in.row(top + y) + from * pixel, pixel, out.row(y) + x * pixel);
    }
  }
}

// Where the added-up places leave the input, which rounding may cause at the very end, pixels are
// black.
void resize_nearest(const MutableImageView& out, const ImageView& in, const ResizePlan& plan,
                    bool mirror) {
  const auto places = [](const AxisPlan& axis) {
    const double scale = static_cast<double>(axis.end - axis.begin) / axis.out;
    std::vector<int> all(axis.out);
    double place = axis.begin + scale * 0.5;
    for (int& pixel : all) {
      pixel = static_cast<int>(place);
      place += scale;
    }
    return all;
  };
  std::vector<int> from_x = places(plan.x);
  if (mirror) std::reverse(from_x.begin(), from_x.end());
  const std::vector<int> from_y = places(plan.y);
  const std::size_t pixel = in.shape.bytes_per_pixel();
  for (int y = 0; y < out.shape.height; ++y) {
    for (int x = 0; x < out.shape.width; ++x) {
      const bool inside = from_x[x] < in.shape.width && from_y[y] < in.shape.height;
      for (std::size_t i = 0; i < pixel; ++i) {
        out.row(y)[x * pixel + i] = inside ? in.row(from_y[y])[from_x[x] * pixel + i] : 0;
      }
    }
  }
}

}  // namespace detail

void resize_reference(const MutableImageView& out, const ImageView& in, const ResizeBox& box,
                      const ResizeOptions& options) {
  const detail::ResizePlan plan = detail::plan_resize(out.shape, in.shape, box, options.order);
  if (plan.x.is_copy() && plan.y.is_copy()) {
    return detail::copy_box(out, in, plan, options.mirror);
  }
  if (options.filter == ResizeFilter::kNearest) {
    return detail::resize_nearest(out, in, plan, options.mirror);
  }
  std::vector<Taps> taps_x = axis_taps(plan.x, options);
  if (options.mirror) std::reverse(taps_x.begin(), taps_x.end());
  const std::vector<Taps> taps_y = axis_taps(plan.y, options);
  ImageShape shape = in.shape;
  (plan.y_first ? shape.height : shape.width) = plan.y_first ? out.shape.height : out.shape.width;
  Image between(shape);
  with_value_type(in.shape, [&]<class Value>(Value) {
    if (plan.y_first) {
      along_y<Value>(between.view(), in, taps_y);
      along_x<Value>(out, between.view(), taps_x);
    } else {
      along_x<Value>(between.view(), in, taps_x);
      along_y<Value>(out, between.view(), taps_y);
    }
  });
}

}  // namespace stoker
