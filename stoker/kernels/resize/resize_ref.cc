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

// Values lie `step` bytes apart. Sums modulo 2^32: no weights reach the limit, but whole numbers
// that wrap are the same in any order.
std::uint8_t weighted(const std::uint8_t* values, std::size_t step, const Taps& taps) {
  std::uint32_t sum = detail::kHalfWeightSum;
  for (std::size_t i = 0; i < taps.weights.size(); ++i) {
    sum += values[i * step] * static_cast<std::uint32_t>(taps.weights[i]);
  }
  const std::int32_t value = static_cast<std::int32_t>(sum) >> detail::kWeightOneBits;
  return static_cast<std::uint8_t>(std::clamp(value, 0, 255));
}

void along_x(const MutableImageView& out, const ImageView& in, const std::vector<Taps>& taps) {
  const int channels = in.shape.channels;
  for (int y = 0; y < out.shape.height; ++y) {
    for (int x = 0; x < out.shape.width; ++x) {
      for (int c = 0; c < channels; ++c) {
        out.row(y)[x * channels + c] =
            weighted(in.row(y) + taps[x].first * channels + c, channels, taps[x]);
      }
    }
  }
}

void along_y(const MutableImageView& out, const ImageView& in, const std::vector<Taps>& taps) {
  for (int y = 0; y < out.shape.height; ++y) {
    for (std::size_t i = 0; i < out.shape.bytes_per_row(); ++i) {
      out.row(y)[i] = weighted(in.row(taps[y].first) + i, in.bytes_per_row, taps[y]);
    }
  }
}

}  // namespace

namespace detail {

void copy_box(const MutableImageView& out, const ImageView& in, const ResizePlan& plan,
              bool mirror) {
  const int channels = in.shape.channels, width = out.shape.width;
  const int left = static_cast<int>(plan.x.begin), top = static_cast<int>(plan.y.begin);
  for (int y = 0; y < out.shape.height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int from = left + (mirror ? width - 1 - x : x);
      std::copy_n(in.row(top + y) + from * channels, channels, out.row(y) + x * channels);
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
  const int channels = in.shape.channels;
  for (int y = 0; y < out.shape.height; ++y) {
    for (int x = 0; x < out.shape.width; ++x) {
      const bool inside = from_x[x] < in.shape.width && from_y[y] < in.shape.height;
      for (int c = 0; c < channels; ++c) {
        out.row(y)[x * channels + c] = inside ? in.at(from_y[y], from_x[x], c) : 0;
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
  if (plan.y_first) {
    Image between({out.shape.height, in.shape.width, in.shape.channels});
    along_y(between.view(), in, taps_y);
    along_x(out, between.view(), taps_x);
  } else {
    Image between({in.shape.height, out.shape.width, in.shape.channels});
    along_x(between.view(), in, taps_x);
    along_y(out, between.view(), taps_y);
  }
}

}  // namespace stoker
