// Parts of a JPEG as JPEGs of their own, where the file has restart markers: the intervals that a
// region needs, behind the file's header with other sides. What is beside or above the region then
// costs no decoding, whose largest part is Huffman's. And the small JPEG for 1/8 of the size, which
// indexed_jpeg() appends (jpeg_index.h).
//
// One a thread: it keeps its memory. Nothing of a file is trusted: what does not fit together is no
// part, and the caller decodes the file as it is.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "stoker/image/decode.h"

namespace stoker::detail {

// Where a sequential JPEG of one scan has its blocks.
struct JpegLayout {
  std::size_t sides = 0;  // the offset of height and width, 2 bytes each
  std::size_t scan = 0;   // the offset of the first entropy-coded byte
  int width = 0, height = 0, components = 0;
  int unit_width = 0, unit_height = 0;  // pixels of the smallest coded unit
  int columns = 0, rows = 0;            // of units
  int interval = 0;                     // units from one restart marker to the next; 0: none

  [[nodiscard]] bool may_show_the_same_as(const JpegLayout& other) const {
    return width == other.width && height == other.height && components == other.components;
  }
};

[[nodiscard]] std::optional<JpegLayout> jpeg_layout(std::span<const std::byte> jpeg);

struct JpegPart {
  std::span<const std::byte> bytes = {};  // a whole JPEG; valid until the next call
  int left = 0, top = 0;                  // where its first pixel lies in the image
  int width = 0, height = 0;
};

class JpegParts {
 public:
  // What covers the region and `margin` pixels around it, at 1/`scale`. Nothing where the file has
  // no such intervals, or nearly all of them would be needed.
  [[nodiscard]] std::optional<JpegPart> find(std::span<const std::byte> file, const Region& region,
                                             int scale, int margin);

 private:
  struct Units;
  [[nodiscard]] bool find_intervals(std::span<const std::byte> jpeg, const JpegLayout& layout,
                                    const Units& units);
  void copy(std::span<const std::byte> jpeg, const JpegLayout& layout, const Units& units,
            const JpegPart& part);

  std::vector<std::size_t> starts_;  // of the intervals from the first row of units on, and the end
  std::vector<std::byte> bytes_;
};

// The file with the JPEG for 1/8 appended, and that JPEG; empty where there is none.
void append_eighth(std::vector<std::byte>& file, std::span<const std::byte> eighth);
[[nodiscard]] std::span<const std::byte> eighth_of(std::span<const std::byte> file);

}  // namespace stoker::detail
