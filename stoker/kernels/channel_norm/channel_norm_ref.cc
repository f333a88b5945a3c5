#include "stoker/kernels/channel_norm/channel_norm.h"

namespace stoker {
namespace {

float line_at(const RectifiedLine& line, float x, std::size_t c) {
  return line.scale[c] * x + line.shift[c];
}

// Comparisons with NaN are false: it passes.
float slope_at(const RectifiedLine& line, float x, float slope, std::size_t c) {
  const float z = line_at(line, x, c);
  return z <= line.low || z >= line.high ? 0 : slope;
}

}  // namespace

void add_moments_reference(float* sums, float* squares, const ChannelRows& x, const float* pivot) {
  for (std::size_t i = 0; i < x.rows * x.channels; ++i) {
    const std::size_t c = i % x.channels;
    const float distance = x.values[i] - pivot[c];
    sums[c] += distance;
    squares[c] += distance * distance;
  }
}

void rectify_line_reference(float* y, const ChannelRows& x, const RectifiedLine& line) {
  for (std::size_t i = 0; i < x.rows * x.channels; ++i) {
    const float z = line_at(line, x.values[i], i % x.channels);
    const float above = z < line.low ? line.low : z;
    y[i] = above > line.high ? line.high : above;
  }
}

void add_slope_sums_reference(float* sums, float* products, const float* slopes,
                              const ChannelRows& x, const RectifiedLine& line, const float* mean) {
  for (std::size_t i = 0; i < x.rows * x.channels; ++i) {
    const std::size_t c = i % x.channels;
    const float slope = slope_at(line, x.values[i], slopes[i], c);
    sums[c] += slope;
    products[c] += slope * (x.values[i] - mean[c]);
  }
}

void input_slopes_reference(float* out, const float* slopes, const ChannelRows& x,
                            const RectifiedLine& line, const SlopePlane& plane) {
  for (std::size_t i = 0; i < x.rows * x.channels; ++i) {
    const std::size_t c = i % x.channels;
    const float slope = slope_at(line, x.values[i], slopes[i], c);
    out[i] = plane.along[c] * x.values[i] + (plane.across[c] * slope + plane.constant[c]);
  }
}

}  // namespace stoker
