#include "stoker/nn/layers/rectified_norm.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "stoker/kernels/channel_norm/channel_norm.h"
#include "stoker/nn/compute_threads.h"

namespace stoker {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Numbers of a channel each; tensors with a row for each of these are kept for the way back.
enum NormNumber : std::int64_t { kMean, kInverseDeviation, kScale, kShift, kNormNumbers };

// Values of one part: enough that starting it costs nothing, few enough for all threads.
constexpr std::int64_t kValuesOfPart = 1 << 16;

struct Parts {
  explicit Parts(const at::Tensor& x)
      : channels(x.size(1)),
        rows(x.numel() / channels),
        rows_of_part(std::max<std::int64_t>(1, kValuesOfPart / channels)),
        count((rows + rows_of_part - 1) / rows_of_part) {}

  [[nodiscard]] std::int64_t first_row(std::int64_t part) const { return part * rows_of_part; }
  [[nodiscard]] ChannelRows of(const at::Tensor& x, std::int64_t part) const {
    const std::int64_t begin = first_row(part), end = std::min(rows, begin + rows_of_part);
    return {x.const_data_ptr<float>() + begin * channels, static_cast<std::size_t>(end - begin),
            static_cast<std::size_t>(channels)};
  }

  std::int64_t channels, rows, rows_of_part, count;
};

// Two sums for each channel: those of all parts, added in their order.
struct TwoSums {
  std::vector<double> first, second;
};

// add(first, second, part) adds a part's values to numbers for each channel.
TwoSums sums_of_parts(const Parts& parts,
                      const std::function<void(float*, float*, std::int64_t)>& add) {
  const std::int64_t channels = parts.channels;
  const at::Tensor partial = at::zeros({parts.count, 2, channels}, at::kFloat);
  auto* const numbers = partial.mutable_data_ptr<float>();
  for_parts(parts.count, [&](std::int64_t part) {
    float* own = numbers + part * 2 * channels;
    add(own, own + channels, part);
  });
  TwoSums sums{std::vector<double>(static_cast<std::size_t>(channels)),
               std::vector<double>(static_cast<std::size_t>(channels))};
  for (std::int64_t part = 0; part < parts.count; ++part) {
    const float* own = numbers + part * 2 * channels;
    for (std::int64_t c = 0; c < channels; ++c) {
      sums.first[static_cast<std::size_t>(c)] += own[c];
      sums.second[static_cast<std::size_t>(c)] += own[channels + c];
    }
  }
  return sums;
}

// Near the mean: that of the first part.
std::vector<float> pivot_of(const at::Tensor& x, const Parts& parts) {
  const ChannelRows first = parts.of(x, 0);
  std::vector<float> sums(first.channels), squares(first.channels);
  const std::vector<float> zeros(first.channels);
  add_moments(sums.data(), squares.data(), first, zeros.data());
  for (float& sum : sums) sum /= static_cast<float>(first.rows);
  return sums;
}

float* row_of(const at::Tensor& numbers, NormNumber row) {
  return numbers.mutable_data_ptr<float>() + row * numbers.size(1);
}

RectifiedLine line_of(const at::Tensor& numbers, const Bounds& bounds) {
  return {row_of(numbers, kScale), row_of(numbers, kShift), static_cast<float>(bounds.low),
          static_cast<float>(bounds.high)};
}

// Statistics of x, what normalises it, and the running statistics moved.
at::Tensor numbers_of(const at::Tensor& x, const Parts& parts, const NormTensors& norm) {
  const std::vector<float> pivot = pivot_of(x, parts);
  const TwoSums moments = sums_of_parts(parts, [&](float* sums, float* squares, std::int64_t part) {
    add_moments(sums, squares, parts.of(x, part), pivot.data());
  });
  at::Tensor numbers = at::empty({kNormNumbers, parts.channels}, at::kFloat);
  const auto count = static_cast<double>(parts.rows);
  const auto* weight = norm.weight.const_data_ptr<float>();
  const auto* bias = norm.bias.const_data_ptr<float>();
  auto* running_mean = norm.running_mean.mutable_data_ptr<float>();
  auto* running_variance = norm.running_variance.mutable_data_ptr<float>();
  const auto move = [&](float& running, double newest) {
    running = static_cast<float>((1 - norm.running_share) * running + norm.running_share * newest);
  };
  for (std::size_t c = 0; c < pivot.size(); ++c) {
    const double distance = moments.first[c] / count, mean = pivot[c] + distance;
    // Not std::max: NaN stays.
    const double found = moments.second[c] / count - distance * distance;
    const double variance = found < 0 ? 0 : found;
    const double inverse = 1 / std::sqrt(variance + norm.variance_floor);
    const double scale = weight[c] * inverse;
    row_of(numbers, kMean)[c] = static_cast<float>(mean);
    row_of(numbers, kInverseDeviation)[c] = static_cast<float>(inverse);
    row_of(numbers, kScale)[c] = static_cast<float>(scale);
    row_of(numbers, kShift)[c] = static_cast<float>(bias[c] - mean * scale);
    move(running_mean[c], mean);
    move(running_variance[c], variance * count / (count - 1));
  }
  return numbers;
}

struct RectifiedNorm : torch::autograd::Function<RectifiedNorm> {
  // weight and bias come by themselves too, as autograd looks for inputs among the arguments.
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const at::Tensor& bias, const NormTensors& norm, const Bounds& bounds) {
    const Parts parts(x);
    const at::Tensor numbers = numbers_of(x, parts, norm);
    at::Tensor y = at::empty_like(x);
    auto* out = y.mutable_data_ptr<float>();
    for_parts(parts.count, [&](std::int64_t part) {
      rectify_line(out + parts.first_row(part) * parts.channels, parts.of(x, part),
                   line_of(numbers, bounds));
    });
    context->save_for_backward({x, numbers});
    context->saved_data["low"] = bounds.low;
    context->saved_data["high"] = bounds.high;
    static_cast<void>(weight), static_cast<void>(bias);
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list slopes_of_outputs) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &numbers = saved[1];
    const Bounds bounds{context->saved_data["low"].toDouble(),
                        context->saved_data["high"].toDouble()};
    const at::Tensor slopes = slopes_of_outputs[0].contiguous(at::MemoryFormat::ChannelsLast);
    const Parts parts(x);
    const auto* above = slopes.const_data_ptr<float>();
    const auto slopes_at = [&](std::int64_t part) {
      return above + parts.first_row(part) * parts.channels;
    };
    const TwoSums sums = sums_of_parts(parts, [&](float* first, float* second, std::int64_t part) {
      add_slope_sums(first, second, slopes_at(part), parts.of(x, part), line_of(numbers, bounds),
                     row_of(numbers, kMean));
    });
    at::Tensor weight_slopes = at::empty({parts.channels}, at::kFloat);
    at::Tensor bias_slopes = at::empty({parts.channels}, at::kFloat);
    std::vector<float> along(sums.first.size()), constant(sums.first.size());
    const auto count = static_cast<double>(parts.rows);
    for (std::size_t c = 0; c < along.size(); ++c) {
      const double inverse = row_of(numbers, kInverseDeviation)[c];
      const double scale = row_of(numbers, kScale)[c], mean = row_of(numbers, kMean)[c];
      const double tilt = -scale * inverse * inverse * sums.second[c] / count;
      along[c] = static_cast<float>(tilt);
      constant[c] = static_cast<float>(-scale * sums.first[c] / count - tilt * mean);
      bias_slopes.mutable_data_ptr<float>()[c] = static_cast<float>(sums.first[c]);
      weight_slopes.mutable_data_ptr<float>()[c] = static_cast<float>(sums.second[c] * inverse);
    }
    at::Tensor out = at::empty_like(x);
    auto* const places = out.mutable_data_ptr<float>();
    const SlopePlane plane{along.data(), row_of(numbers, kScale), constant.data()};
    for_parts(parts.count, [&](std::int64_t part) {
      input_slopes(places + parts.first_row(part) * parts.channels, slopes_at(part),
                   parts.of(x, part), line_of(numbers, bounds), plane);
    });
    return {out, weight_slopes, bias_slopes, {}, {}};
  }
};

}  // namespace

bool can_rectify_norm(const at::Tensor& x) {
  return x.is_cpu() && x.scalar_type() == at::kFloat && x.dim() == 4 && x.numel() > 0 &&
         x.is_contiguous(at::MemoryFormat::ChannelsLast);
}

at::Tensor rectified_norm(const at::Tensor& x, const NormTensors& norm, const Bounds& bounds) {
  return RectifiedNorm::apply(x, norm.weight, norm.bias, norm, bounds);
}

}  // namespace stoker
