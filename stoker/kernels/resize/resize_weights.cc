#include "stoker/kernels/resize/detail/resize_weights.h"

#include <algorithm>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"

namespace stoker::detail {
namespace {

// sin(pi x / 3) for 0 <= x <= 1.5: Taylor's series to the 21st power, from the last term on; what
// follows is below 1e-17.
double sine_of_thirds(double x) noexcept {
  constexpr double kThirdOfPi = 1.0471975511965976;
  constexpr double kTerms[] = {1 / 51090942171709440000.0,
                               -1 / 121645100408832000.0,
                               1 / 355687428096000.0,
                               -1 / 1307674368000.0,
                               1 / 6227020800.0,
                               -1 / 39916800.0,
                               1 / 362880.0,
                               -1 / 5040.0,
                               1 / 120.0,
                               -1 / 6.0,
                               1.0};
  const double angle = x * kThirdOfPi, square = angle * angle;
  double sum = 0;
  for (const double term : kTerms) sum = sum * square + term;
  return sum * angle;
}

AxisPlan plan_axis(int out, int in, double begin, double end) {
  const AxisPlan plan{
      .in = in, .out = out, .begin = static_cast<float>(begin), .end = static_cast<float>(end)};
  if (!(plan.begin >= 0 && plan.end <= static_cast<float>(in) && plan.begin <= plan.end)) {
    throw Error({.what = "cannot resize this part of an image",
                 .expected = fmt::format("edges in order, within 0 to {}", in),
                 .found = fmt::format("{} to {}", begin, end)});
  }
  return plan;
}

// First pixels and counts of all outputs; returns the largest count.
int sample_axis(ResizeAxis& axis, const AxisSampling& sampling, int out) {
  int most = 1;
  for (int x = 0; x < out; ++x) {
    const double centre = sampling.centre(x);
    const int first = sampling.first(centre), count = std::max(sampling.end(centre) - first, 0);
    axis.first[x] = first;
    axis.count[x] = count;
    most = std::max(most, count);
  }
  return most;
}

// The sum goes from the first tap to the last, and each weight is divided by it: another order, or
// multiplying by the inverse, would give other last bits than Pillow's.
template <class Filter>
void weigh_output(std::int32_t* weights, double* row, int first, int count, double centre,
                  double inverse_stretch, Filter filter) {
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    row[i] = filter((first + i - centre + 0.5) * inverse_stretch);
    sum += row[i];
  }
  const double divisor = sum == 0 ? 1 : sum;
  for (int i = 0; i < count; ++i) weights[i] = fixed_weight(row[i] / divisor);
}

template <class Filter>
void weigh_axis(ResizeAxis& axis, const AxisSampling& sampling, int out, Filter filter,
                const AxisLayout& layout) {
  const double inverse_stretch = 1.0 / sampling.stretch;
  std::int32_t* weights = axis.weights.data();
  std::fill_n(weights, static_cast<std::size_t>(out) * axis.stride, 0);
  for (int x = 0; x < out; ++x) {
    const int first = axis.first[x];
    int shift = 0;
    if (layout.within_input) shift = std::clamp(first + axis.stride - sampling.in, 0, first);
    const int place = layout.reversed ? out - 1 - x : x;
    weigh_output(weights + static_cast<std::size_t>(place) * axis.stride + shift, axis.row.data(),
                 first, axis.count[x], sampling.centre(x), inverse_stretch, filter);
    axis.first[x] = first - shift;
  }
}

template <class T>
void grow(std::vector<T>& memory, std::size_t size) {
  if (memory.size() < size) memory.resize(size);
}

}  // namespace

// sinc(x) sinc(x / 3), where sinc(x) = sin(pi x) / (pi x). With s = sin(pi x / 3), sin(pi x) is
// s (3 - 4 s^2): one sine instead of two.
double LanczosFilter::operator()(double x) const noexcept {
  if (x == 0) return 1;
  const double r = x < 0 ? -x : x;
  if (r >= 3) return 0;
  const double s = sine_of_thirds(r <= 1.5 ? r : 3 - r), ratio = s / r;
  constexpr double kThreeOverPiSquared = 0.3039635509270133;
  return ratio * ratio * (3 - 4 * (s * s)) * kThreeOverPiSquared;
}

double filter_support(ResizeFilter filter) noexcept {
  switch (filter) {
    case ResizeFilter::kNearest:
      return 0;
    case ResizeFilter::kBox:
      return 0.5;
    case ResizeFilter::kBilinear:
      return 1;
    case ResizeFilter::kBicubic:
      return 2;
    case ResizeFilter::kLanczos:
      break;
  }
  return 3;
}

ResizePlan plan_resize(const ImageShape& out, const ImageShape& in, const ResizeBox& box,
                       ResizeOrder order) {
  check_shape(out);
  check_shape(in);
  STOKER_INVARIANT(out.channels == in.channels && out.depth == in.depth,
                   "{} and {} channels of {} and {} bits", out.channels, in.channels, out.depth,
                   in.depth);
  const int less_height = in.height - out.height, less_width = in.width - out.width;
  return {.x = plan_axis(out.width, in.width, box.left, box.right),
          .y = plan_axis(out.height, in.height, box.top, box.bottom),
          .y_first = order == ResizeOrder::kPillow13 && less_height > std::max(0, 2 * less_width)};
}

void make_weights(ResizeAxis& axis, const AxisPlan& plan, const ResizeOptions& options,
                  const AxisLayout& layout) {
  const AxisSampling sampling(plan, filter_support(options.filter), options.antialias);
  grow(axis.first, plan.out);
  grow(axis.count, plan.out);
  axis.taps = sample_axis(axis, sampling, plan.out);
  axis.stride = (axis.taps + layout.stride_unit - 1) / layout.stride_unit * layout.stride_unit;
  grow(axis.row, axis.taps);
  grow(axis.weights, static_cast<std::size_t>(plan.out) * axis.stride);
  switch (options.filter) {
    case ResizeFilter::kBox:
      weigh_axis(axis, sampling, plan.out, BoxFilter(), layout);
      break;
    case ResizeFilter::kNearest:  // has no weights; see resize_nearest
    case ResizeFilter::kBilinear:
      weigh_axis(axis, sampling, plan.out, BilinearFilter(), layout);
      break;
    case ResizeFilter::kBicubic:
      weigh_axis(axis, sampling, plan.out, BicubicFilter(), layout);
      break;
    case ResizeFilter::kLanczos:
      weigh_axis(axis, sampling, plan.out, LanczosFilter(), layout);
      break;
  }
  if (layout.reversed) {
    std::reverse(axis.first.begin(), axis.first.begin() + plan.out);
    std::reverse(axis.count.begin(), axis.count.begin() + plan.out);
  }
}

}  // namespace stoker::detail
