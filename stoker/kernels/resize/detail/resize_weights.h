// What all versions of the resize share: the box as Pillow sees it, the filters, the sampling of an
// axis; and the fast way to make an axis' weights.
#pragma once

#include "stoker/kernels/resize/resize.h"

namespace stoker::detail {

inline constexpr int kWeightOneBits = 22;  // the weight 1 is 2^22
inline constexpr std::int32_t kHalfWeightSum = 1 << (kWeightOneBits - 1);

// One axis of a resize; edges as Pillow takes them.
struct AxisPlan {
  int in = 0, out = 0;
  float begin = 0, end = 0;

  // Whole pixels, as many as the output has: resampling would give them back unchanged.
  [[nodiscard]] bool is_copy() const noexcept {
    return begin == static_cast<float>(static_cast<int>(begin)) &&
           end - begin == static_cast<float>(out);
  }
};
struct ResizePlan {
  AxisPlan x, y;
  bool y_first = false;
};
// Checks shapes (an invariant) and box (an Error).
[[nodiscard]] ResizePlan plan_resize(const ImageShape& out, const ImageShape& in,
                                     const ResizeBox& box, ResizeOrder order);

[[nodiscard]] double filter_support(ResizeFilter filter) noexcept;

// The filters' formulas, in the order of operations that gives Pillow's doubles.
struct BoxFilter {
  double operator()(double x) const noexcept { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }
};
struct BilinearFilter {
  double operator()(double x) const noexcept {
    const double rest = 1.0 - (x < 0 ? -x : x);
    return rest > 0 ? rest : 0.0;
  }
};
struct BicubicFilter {
  double operator()(double x) const noexcept {
    const double r = x < 0 ? -x : x;
    if (r < 1) return (1.5 * r - 2.5) * r * r + 1;
    if (r < 2) return (((r - 5) * r + 8) * r - 4) * -0.5;
    return 0;
  }
};
// With a sine of our own: Pillow takes the C library's, whose last bit may depend on the CPU.
// Within 1e-15 of that one, so that weights rounded to 2^-22 are the same (a test compares them).
struct LanczosFilter {
  double operator()(double x) const noexcept;
};

// Where an axis is sampled.
struct AxisSampling {
  AxisSampling(const AxisPlan& plan, double filter_support, Antialias antialias) noexcept
      : in(plan.in),
        begin(plan.begin),
        scale(static_cast<double>(plan.end - plan.begin) / plan.out),
        stretch(antialias == Antialias::kOn && scale > 1 ? scale : 1),
        support(filter_support * stretch) {}

  [[nodiscard]] double centre(int x) const noexcept { return begin + (x + 0.5) * scale; }
  [[nodiscard]] int first(double centre) const noexcept {
    const int first = static_cast<int>(centre - support + 0.5);
    return first < 0 ? 0 : first;
  }
  [[nodiscard]] int end(double centre) const noexcept {
    const int end = static_cast<int>(centre + support + 0.5);
    return end > in ? in : end;
  }

  int in;
  double begin, scale, stretch, support;
};

[[nodiscard]] inline std::int32_t fixed_weight(double weight) noexcept {
  const double scaled = weight * (1 << kWeightOneBits);
  return static_cast<std::int32_t>(weight < 0 ? scaled - 0.5 : scaled + 0.5);
}

struct AxisLayout {
  int stride_unit = 4;        // the stride is a multiple of this
  bool reversed = false;      // the last output first
  bool within_input = false;  // first[x] + stride <= in, where the input is long enough
};
void make_weights(ResizeAxis& axis, const AxisPlan& plan, const ResizeOptions& options,
                  const AxisLayout& layout);

void resize_nearest(const MutableImageView& out, const ImageView& in, const ResizePlan& plan,
                    bool mirror);

// Of wide images: a plain loop for each axis.
void resize_wide(const MutableImageView& out, const ImageView& in, const ResizeBox& box,
                 const ResizeOptions& options, ResizeScratch& scratch);

// Whole pixels from (plan.x.begin, plan.y.begin) on.
void copy_box(const MutableImageView& out, const ImageView& in, const ResizePlan& plan,
              bool mirror);

}  // namespace stoker::detail
