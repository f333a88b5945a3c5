#include "stoker/nn/int8/byte_tensors.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "stoker/core/invariant.h"

namespace stoker {
namespace {

at::Tensor dense(const at::Tensor& x) {
  return x.is_non_overlapping_and_dense() ? x : x.contiguous();
}

// Of one row of the result: the largest of the windows' rows, channel by channel.
void take_largest(const std::uint8_t* from, std::int64_t channels, std::uint8_t* to) {
  for (std::int64_t c = 0; c < channels; ++c) to[c] = std::max(to[c], from[c]);
}

}  // namespace

at::Tensor to_bytes(const at::Tensor& x, const QuantisedValue& form) {
  const at::Tensor from = dense(x);
  at::Tensor bytes = at::empty_like(from, at::kByte);
  const float* in = from.const_data_ptr<float>();
  std::uint8_t* out = bytes.mutable_data_ptr<std::uint8_t>();
  // Adding it leaves a number without a fraction, rounded as the CPU rounds: half to even.
  constexpr float kNoFraction = 12582912.0F;
  const float least = -static_cast<float>(form.zero_point),
              most = 255.0F - static_cast<float>(form.zero_point);
  const auto zero = static_cast<std::int32_t>(form.zero_point);
  const std::int64_t count = from.numel();
  for (std::int64_t i = 0; i < count; ++i) {
    const float limited = std::min(std::max(in[i] / form.scale, least), most);
    const float whole = (limited + kNoFraction) - kNoFraction;
    out[i] = static_cast<std::uint8_t>(static_cast<std::int32_t>(whole) + zero);
  }
  return bytes;
}

at::Tensor from_bytes(const at::Tensor& bytes, const QuantisedValue& form) {
  const at::Tensor from = dense(bytes);
  at::Tensor x = at::empty_like(from, at::kFloat);
  const std::uint8_t* in = from.const_data_ptr<std::uint8_t>();
  float* out = x.mutable_data_ptr<float>();
  const auto zero = static_cast<std::int32_t>(form.zero_point);
  const std::int64_t count = from.numel();
  for (std::int64_t i = 0; i < count; ++i) {
    out[i] = static_cast<float>(static_cast<std::int32_t>(in[i]) - zero) * form.scale;
  }
  return x;
}

at::Tensor max_pool_bytes(const at::Tensor& bytes, const PoolSizes& sizes) {
  STOKER_INVARIANT(bytes.dim() == 4, "a pool of {} dimensions", bytes.dim());
  const at::Tensor from = bytes.contiguous(at::MemoryFormat::ChannelsLast);
  const std::int64_t samples = from.size(0), channels = from.size(1), rows = from.size(2),
                     columns = from.size(3);
  const auto pooled = [&](std::int64_t size, std::size_t side) {
    return (size + 2 * sizes.padding[side] - sizes.kernel[side]) / sizes.stride[side] + 1;
  };
  const std::int64_t out_rows = pooled(rows, 0), out_columns = pooled(columns, 1);
  at::Tensor result = at::empty({samples, channels, out_rows, out_columns}, from.options(),
                                at::MemoryFormat::ChannelsLast);
  result.zero_();
  const std::uint8_t* in = from.const_data_ptr<std::uint8_t>();
  std::uint8_t* out = result.mutable_data_ptr<std::uint8_t>();
  for (std::int64_t place = 0; place < samples * out_rows * out_columns; ++place) {
    const std::int64_t sample = place / (out_rows * out_columns);
    const std::int64_t top = place / out_columns % out_rows * sizes.stride[0] - sizes.padding[0];
    const std::int64_t left = place % out_columns * sizes.stride[1] - sizes.padding[1];
    for (std::int64_t y = std::max<std::int64_t>(0, top); y < std::min(rows, top + sizes.kernel[0]);
         ++y) {
      for (std::int64_t x = std::max<std::int64_t>(0, left);
           x < std::min(columns, left + sizes.kernel[1]); ++x) {
        take_largest(in + ((sample * rows + y) * columns + x) * channels, channels,
                     out + place * channels);
      }
    }
  }
  return result;
}

}  // namespace stoker
