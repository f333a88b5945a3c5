#include "stoker/image/detail/orientation.h"

#include <cstddef>
#include <cstring>
#include <utility>

namespace stoker::detail {
namespace {

// The stored column runs against the upright direction that it follows; likewise the row.
constexpr bool mirrors_columns(int orientation) {
  return orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
}
constexpr bool mirrors_rows(int orientation) {
  return orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
}

// Copies pixels that lie `step` bytes apart into a row.
template <int kChannels>
void gather(std::uint8_t* out, const std::uint8_t* in, std::ptrdiff_t step, int count) {
  for (int x = 0; x < count; ++x, in += step, out += kChannels) std::memcpy(out, in, kChannels);
}

}  // namespace

Region to_stored(const Region& upright, int orientation, int stored_width, int stored_height) {
  Region region = upright;
  if (swaps_sides(orientation)) {
    std::swap(region.left, region.top);
    std::swap(region.width, region.height);
  }
  if (mirrors_columns(orientation)) region.left = stored_width - region.left - region.width;
  if (mirrors_rows(orientation)) region.top = stored_height - region.top - region.height;
  return region;
}

RegionF to_upright(const RegionF& stored, int orientation, int stored_width, int stored_height) {
  RegionF box = stored;
  if (mirrors_columns(orientation)) box.left = stored_width - box.left - box.width;
  if (mirrors_rows(orientation)) box.top = stored_height - box.top - box.height;
  if (swaps_sides(orientation)) {
    std::swap(box.left, box.top);
    std::swap(box.width, box.height);
  }
  return box;
}

void turn_upright(const MutableImageView& out, const ImageView& in, int orientation) {
  const auto pixel = static_cast<std::ptrdiff_t>(in.shape.bytes_per_pixel());
  const auto row_step = static_cast<std::ptrdiff_t>(in.bytes_per_row);
  std::ptrdiff_t along = pixel, down = row_step;  // in the stored image
  const std::uint8_t* first = in.data;
  if (mirrors_columns(orientation)) {
    first += (in.shape.width - 1) * pixel;
    along = -along;
  }
  if (mirrors_rows(orientation)) {
    first += (in.shape.height - 1) * row_step;
    down = -down;
  }
  if (swaps_sides(orientation)) std::swap(along, down);
  for (int y = 0; y < out.shape.height; ++y) {
    const std::uint8_t* from = first + y * down;
    switch (pixel) {
      case 1:
        gather<1>(out.row(y), from, along, out.shape.width);
        break;
      case 3:
        gather<3>(out.row(y), from, along, out.shape.width);
        break;
      case 2:
        gather<2>(out.row(y), from, along, out.shape.width);
        break;
      case 4:
        gather<4>(out.row(y), from, along, out.shape.width);
        break;
      case 6:
        gather<6>(out.row(y), from, along, out.shape.width);
        break;
      default:
        gather<8>(out.row(y), from, along, out.shape.width);
    }
  }
}

}  // namespace stoker::detail
