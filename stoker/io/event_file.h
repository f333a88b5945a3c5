// Event files that TensorBoard reads: numbers, images, histograms and text over steps. A file is
// a row of records, each with its length and checksums, so one that was broken off is read up to
// its last whole record.
//
// Every call writes its record through to the file. One thread; the file is closed with the object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// Of values in buckets that touch: bucket i holds those in (limits[i - 1], limits[i]].
struct EventHistogram {
  double least = 0, greatest = 0, count = 0, sum = 0, sum_of_squares = 0;
  std::vector<double> limits, counts;
};
// `buckets` of equal width from the least to the greatest value. Values that are not finite are
// omitted.
[[nodiscard]] EventHistogram histogram_of(std::span<const float> values, std::size_t buckets = 64);

struct EventImage {
  int height = 0, width = 0, channels = 1;
  std::span<const std::byte> png;
};

class EventFile {
 public:
  // Makes events.out.tfevents.SECONDS.PID.stoker in `folder`. A run that goes on at `first_step`
  // writes a new file, which makes TensorBoard forget the steps from there on in older ones.
  EventFile(const std::filesystem::path& folder, std::int64_t first_step);
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  // All throw Error where the disk refuses. Tags are UTF-8; "loss/train" is in the group "loss".
  void add_scalar(std::string_view tag, std::int64_t step, double value);
  void add_image(std::string_view tag, std::int64_t step, const EventImage& image);
  void add_histogram(std::string_view tag, std::int64_t step, const EventHistogram& histogram);
  void add_text(std::string_view tag, std::int64_t step, std::string_view markdown);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  void write_record(std::string_view record);

  std::filesystem::path path_;
  std::FILE* file_ = nullptr;
};

namespace detail {
// CRC-32C as event files store it: turned by 15 bits and with a constant added.
[[nodiscard]] std::uint32_t masked_crc(std::string_view bytes);
}  // namespace detail

}  // namespace stoker
