// Batch normalisation of rows of channels (a batch of images with channels last), and a rectifier
// after it, in as few passes over memory as possible: memory is what they wait for.
//
//   z = scale[c] x + shift[c],   y = z, at least `low` and at most `high`
//
// The slope of y at x is 0 where z is not between the bounds; NaN stays NaN. f32, with fused
// multiply-adds where the CPU has them, so results of CPUs differ in the last bits. One thread;
// callers divide the rows. Nothing overlaps but where it is said.
#pragma once

#include <cstddef>

namespace stoker {

// One number for each channel in each row, no gaps.
struct ChannelRows {
  const float* values = nullptr;
  std::size_t rows = 0, channels = 0;
};

// From x to y. Scale and shift have a number for each channel.
struct RectifiedLine {
  const float* scale = nullptr;
  const float* shift = nullptr;
  float low = 0, high = 0;  // may be infinite
};

// Adds to sums[c] all x - pivot[c], and to squares[c] their squares. With a pivot near the mean
// little is lost by rounding.
void add_moments(float* sums, float* squares, const ChannelRows& x, const float* pivot);

void rectify_line(float* y, const ChannelRows& x, const RectifiedLine& line);

// With g the slopes at y where z is between the bounds and 0 elsewhere: adds to sums[c] all g, and
// to products[c] all g (x - mean[c]).
void add_slope_sums(float* sums, float* products, const float* slopes, const ChannelRows& x,
                    const RectifiedLine& line, const float* mean);

// out = along[c] x + across[c] g + constant[c]
struct SlopePlane {
  const float *along = nullptr, *across = nullptr, *constant = nullptr;
};
// `out` may be `slopes`.
void input_slopes(float* out, const float* slopes, const ChannelRows& x, const RectifiedLine& line,
                  const SlopePlane& plane);

// The slow obvious versions, for comparison.
void add_moments_reference(float* sums, float* squares, const ChannelRows& x, const float* pivot);
void rectify_line_reference(float* y, const ChannelRows& x, const RectifiedLine& line);
void add_slope_sums_reference(float* sums, float* products, const float* slopes,
                              const ChannelRows& x, const RectifiedLine& line, const float* mean);
void input_slopes_reference(float* out, const float* slopes, const ChannelRows& x,
                            const RectifiedLine& line, const SlopePlane& plane);

}  // namespace stoker
