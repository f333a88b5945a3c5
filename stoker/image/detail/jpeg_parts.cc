#include "stoker/image/detail/jpeg_parts.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace stoker::detail {
namespace {

constexpr int kBlock = 8;
constexpr int kEighth = 8;  // the scale that the appended JPEG is for
// A part that needs more of the units from the top of the image to its end is not worth the copy.
constexpr double kMostUnits = 0.9;
// At the end of a file with an appended JPEG, before the length of that JPEG in 8 bytes.
constexpr std::string_view kEighthMark = "STOKER/8";

enum Marker : int {
  kSof0 = 0xC0,
  kSof1 = 0xC1,
  kDht = 0xC4,
  kSofLast = 0xCF,
  kRst0 = 0xD0,
  kRst7 = 0xD7,
  kSoi = 0xD8,
  kEoi = 0xD9,
  kSos = 0xDA,
  kDri = 0xDD,
  kFill = 0xFF
};

int byte_at(std::span<const std::byte> bytes, std::size_t at) {
  return std::to_integer<int>(bytes[at]);
}

int word_at(std::span<const std::byte> bytes, std::size_t at) {
  return byte_at(bytes, at) << 8 | byte_at(bytes, at + 1);
}

int divided_up(int value, int by) { return (value + by - 1) / by; }

// `body` is what follows the segment's length. False where it is none of a baseline image.
bool read_frame(std::span<const std::byte> body, JpegLayout& layout) {
  if (layout.components != 0 || body.size() < 6 || byte_at(body, 0) != 8) return false;
  layout.height = word_at(body, 1);
  layout.width = word_at(body, 3);
  layout.components = byte_at(body, 5);
  const auto count = static_cast<std::size_t>(layout.components);
  if (count == 0 || layout.height == 0 || layout.width == 0 || body.size() != 6 + 3 * count) {
    return false;
  }
  int across = 1, down = 1;
  for (std::size_t i = 0; i < count; ++i) {
    const int factors = byte_at(body, 7 + 3 * i);
    if (factors >> 4 == 0 || (factors & 15) == 0) return false;
    // A single component is coded block by block, whatever its factors are.
    across = count == 1 ? 1 : std::max(across, factors >> 4);
    down = count == 1 ? 1 : std::max(down, factors & 15);
  }
  layout.unit_width = kBlock * across;
  layout.unit_height = kBlock * down;
  layout.columns = divided_up(layout.width, layout.unit_width);
  layout.rows = divided_up(layout.height, layout.unit_height);
  return true;
}

bool is_other_frame(int marker) {
  return marker > kSof1 && marker <= kSofLast && marker != kDht && marker != 0xC8;
}

}  // namespace

std::optional<JpegLayout> jpeg_layout(std::span<const std::byte> jpeg) {
  JpegLayout layout;
  if (jpeg.size() < 4 || byte_at(jpeg, 0) != 0xFF || byte_at(jpeg, 1) != kSoi) return std::nullopt;
  for (std::size_t at = 2; jpeg.size() - at >= 4;) {
    const int marker = byte_at(jpeg, at + 1);
    const auto length = static_cast<std::size_t>(word_at(jpeg, at + 2));
    // Fill bytes may stand before a marker. Such files are decoded whole: a fill byte taken for a
    // marker with a length would lead to another header than the one that libjpeg reads.
    if (byte_at(jpeg, at) != 0xFF || marker < kSof0 || marker == kFill ||
        (marker >= kRst0 && marker <= kEoi) || is_other_frame(marker) || length < 2 ||
        length > jpeg.size() - at - 2) {
      return std::nullopt;
    }
    const auto body = jpeg.subspan(at + 4, length - 2);
    if (marker == kSof0 || marker == kSof1) {
      if (!read_frame(body, layout)) return std::nullopt;
      layout.sides = at + 5;
    }
    if (marker == kDri) {
      if (body.size() != 2) return std::nullopt;
      layout.interval = word_at(body, 0);
    }
    at += 2 + length;
    if (marker != kSos) continue;
    if (layout.components == 0 || body.empty() || byte_at(body, 0) != layout.components) {
      return std::nullopt;
    }
    layout.scan = at;
    return layout;
  }
  return std::nullopt;
}

// Rows and columns of units; columns are whole intervals.
struct JpegParts::Units {
  int first_row, end_row, first_column, end_column;

  [[nodiscard]] bool are_worth_it(const JpegLayout& layout) const {
    const double needed = static_cast<double>(end_row - first_row) * (end_column - first_column);
    return needed <= kMostUnits * end_row * layout.columns;
  }
};

bool JpegParts::find_intervals(std::span<const std::byte> jpeg, const JpegLayout& layout,
                               const Units& units) {
  const int per_row = layout.columns / layout.interval;
  const int first = units.first_row * per_row, end = units.end_row * per_row;
  starts_.clear();
  if (first == 0) starts_.push_back(layout.scan);
  const auto* const begin = reinterpret_cast<const unsigned char*>(jpeg.data());
  const unsigned char* at = begin + layout.scan;
  const unsigned char* const last = begin + jpeg.size() - 1;  // a marker has two bytes
  for (int done = 0; done < end;) {
    at = static_cast<const unsigned char*>(
        std::memchr(at, 0xFF, static_cast<std::size_t>(std::max<std::ptrdiff_t>(last - at, 0))));
    if (at == nullptr) return false;
    const int marker = at[1];
    at += 2;
    if (marker == 0) continue;
    // The last interval of the image ends with the image; every other one with its own marker.
    const bool is_end = done + 1 == layout.rows * per_row;
    if (marker != (is_end ? static_cast<int>(kEoi) : kRst0 + done % 8)) return false;
    ++done;
    if (done >= first) starts_.push_back(static_cast<std::size_t>(at - begin));
  }
  return true;
}

void JpegParts::copy(std::span<const std::byte> jpeg, const JpegLayout& layout, const Units& units,
                     const JpegPart& part) {
  bytes_.assign(jpeg.begin(), jpeg.begin() + static_cast<std::ptrdiff_t>(layout.scan));
  const std::array<int, 2> sides = {part.height, part.width};
  for (std::size_t i = 0; i < sides.size(); ++i) {
    bytes_[layout.sides + 2 * i] = static_cast<std::byte>(sides[i] >> 8);
    bytes_[layout.sides + 2 * i + 1] = static_cast<std::byte>(sides[i] & 0xFF);
  }
  const int per_row = layout.columns / layout.interval;
  const int first = units.first_column / layout.interval, end = units.end_column / layout.interval;
  int number = 0;
  for (int row = 0; row < units.end_row - units.first_row; ++row) {
    const std::size_t* starts = starts_.data() + static_cast<std::ptrdiff_t>(row) * per_row;
    const std::size_t from = bytes_.size();
    const auto intervals = jpeg.subspan(starts[first], starts[end] - starts[first]);
    bytes_.insert(bytes_.end(), intervals.begin(), intervals.end());
    // Each interval ends with its marker, whose number counts anew.
    for (int i = first; i < end; ++i, ++number) {
      bytes_[from + starts[i + 1] - starts[first] - 1] = static_cast<std::byte>(kRst0 + number % 8);
    }
  }
  bytes_.back() = static_cast<std::byte>(kEoi);
}

std::optional<JpegPart> JpegParts::find(std::span<const std::byte> file, const Region& region,
                                        int scale, int margin) {
  const auto layout = jpeg_layout(file);
  if (!layout || region.left + region.width > layout->width ||
      region.top + region.height > layout->height) {
    return std::nullopt;
  }
  std::span<const std::byte> jpeg = file;
  JpegLayout used = *layout;
  std::optional<JpegPart> all_of_it;
  const auto eighth = scale == kEighth ? eighth_of(file) : std::span<const std::byte>();
  if (const auto other = jpeg_layout(eighth); other && other->may_show_the_same_as(*layout)) {
    jpeg = eighth;
    used = *other;
    all_of_it = JpegPart{.bytes = jpeg, .width = used.width, .height = used.height};
  }
  if (used.interval == 0 || used.columns % used.interval != 0) return all_of_it;
  const int around = margin * scale;
  const auto start = [&](int first, int size) { return std::max(0, first - around) / size; };
  const auto finish = [&](int end, int size, int most) {
    return std::min(most, divided_up(end + around, size));
  };
  Units units{start(region.top, used.unit_height),
              finish(region.top + region.height, used.unit_height, used.rows),
              start(region.left, used.unit_width),
              finish(region.left + region.width, used.unit_width, used.columns)};
  units.first_column = units.first_column / used.interval * used.interval;
  units.end_column =
      std::min(used.columns, divided_up(units.end_column, used.interval) * used.interval);
  if (!units.are_worth_it(used) || !find_intervals(jpeg, used, units)) return all_of_it;
  JpegPart part{.left = units.first_column * used.unit_width,
                .top = units.first_row * used.unit_height};
  part.width = std::min(used.width, units.end_column * used.unit_width) - part.left;
  part.height = std::min(used.height, units.end_row * used.unit_height) - part.top;
  copy(jpeg, used, units, part);
  part.bytes = bytes_;
  return part;
}

void append_eighth(std::vector<std::byte>& file, std::span<const std::byte> eighth) {
  file.insert(file.end(), eighth.begin(), eighth.end());
  for (const char letter : kEighthMark) file.push_back(static_cast<std::byte>(letter));
  for (int shift = 0; shift < 64; shift += 8) {
    file.push_back(static_cast<std::byte>(std::uint64_t{eighth.size()} >> shift & 0xFF));
  }
}

std::span<const std::byte> eighth_of(std::span<const std::byte> file) {
  const std::size_t end = kEighthMark.size() + 8;
  if (file.size() < end ||
      std::memcmp(file.data() + file.size() - end, kEighthMark.data(), kEighthMark.size()) != 0) {
    return {};
  }
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    bytes |= std::uint64_t{std::to_integer<std::uint8_t>(file[file.size() - 8 + i])} << 8 * i;
  }
  if (bytes > file.size() - end) return {};
  return file.subspan(file.size() - end - static_cast<std::size_t>(bytes),
                      static_cast<std::size_t>(bytes));
}

}  // namespace stoker::detail
