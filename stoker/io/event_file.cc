#include "stoker/io/event_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "stoker/core/error.h"
#include "stoker/io/detail/protobuf.h"

namespace stoker {
namespace {

using detail::ProtoMessage;

// Numbers of the fields in TensorBoard's event.proto, summary.proto, tensor.proto and
// histogram.proto.
namespace event {
constexpr int kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7;
}
namespace session_log {
constexpr int kStatus = 1, kStart = 1;
}
namespace summary {
constexpr int kValue = 1;
}
namespace value {
constexpr int kTag = 1, kSimple = 2, kImage = 4, kHistogram = 5, kTensor = 8, kMetadata = 9;
}
namespace image_field {
constexpr int kHeight = 1, kWidth = 2, kColourSpace = 3, kEncoded = 4;
}
namespace histogram_field {
constexpr int kMin = 1, kMax = 2, kNum = 3, kSum = 4, kSumSquares = 5, kLimits = 6, kCounts = 7;
}
namespace tensor_field {
constexpr int kDtype = 1, kShape = 2, kStrings = 8, kStringType = 7;
}

// Polynomial 0x1EDC6F41, bits reversed.
constexpr std::array<std::uint32_t, 256> crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82F63B78U : 0);
    table[i] = crc;
  }
  return table;
}

std::string little_endian(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i) & 0xFF);
  return text;
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

ProtoMessage event_at(std::int64_t step) {
  ProtoMessage message;
  message.add_double(event::kWallTime, wall_seconds());
  message.add_integer(event::kStep, step);
  return message;
}

ProtoMessage value_of(std::string_view tag) {
  ProtoMessage message;
  message.add_text(value::kTag, tag);
  return message;
}

std::string summary_event(std::int64_t step, const ProtoMessage& one_value) {
  ProtoMessage all;
  all.add_message(summary::kValue, one_value);
  ProtoMessage message = event_at(step);
  message.add_message(event::kSummary, all);
  return message.bytes();
}

}  // namespace

namespace detail {

std::uint32_t masked_crc(std::string_view bytes) {
  static constexpr std::array<std::uint32_t, 256> kTable = crc_table();
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 0xFF];
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xA282EAD8U;
}

}  // namespace detail

EventHistogram histogram_of(std::span<const float> values, std::size_t buckets) {
  EventHistogram histogram;
  for (const float v : values) {
    if (!std::isfinite(v)) continue;
    histogram.least = histogram.count == 0 ? v : std::min<double>(histogram.least, v);
    histogram.greatest = histogram.count == 0 ? v : std::max<double>(histogram.greatest, v);
    histogram.count += 1;
    histogram.sum += v;
    histogram.sum_of_squares += double{v} * v;
  }
  const double width = (histogram.greatest - histogram.least) / static_cast<double>(buckets);
  // Where all are equal there is one bucket around them.
  if (!(width > 0)) {
    histogram.limits = {histogram.greatest};
    histogram.counts = {histogram.count};
    return histogram;
  }
  histogram.counts.resize(buckets);
  for (std::size_t i = 1; i <= buckets; ++i) {
    histogram.limits.push_back(i == buckets ? histogram.greatest
                                            : histogram.least + static_cast<double>(i) * width);
  }
  for (const float v : values) {
    if (!std::isfinite(v)) continue;
    const auto place = static_cast<std::size_t>(
        std::lower_bound(histogram.limits.begin(), histogram.limits.end(), double{v}) -
        histogram.limits.begin());
    histogram.counts[place] += 1;
  }
  return histogram;
}

EventFile::EventFile(const std::filesystem::path& folder, std::int64_t first_step)
    : path_(folder /
            fmt::format("events.out.tfevents.{:.0f}.{}.stoker", wall_seconds(), ::getpid())) {
  file_ = std::fopen(path_.c_str(), "wbe");
  if (file_ == nullptr) {
    throw Error({.what = "cannot write the event file",
                 .path = path_.string(),
                 .found = std::strerror(errno)});
  }
  ProtoMessage version = event_at(0);
  version.add_text(event::kFileVersion, "brain.Event:2");
  write_record(version.bytes());
  ProtoMessage start;
  start.add_integer(session_log::kStatus, session_log::kStart);
  ProtoMessage session = event_at(first_step);
  session.add_message(event::kSessionLog, start);
  write_record(session.bytes());
}

EventFile::~EventFile() {
  if (file_ != nullptr) std::fclose(file_);
}

// The length, its checksum, the record, its checksum.
void EventFile::write_record(std::string_view record) {
  std::string bytes = little_endian(record.size(), 8);
  bytes += little_endian(detail::masked_crc(bytes), 4);
  bytes += record;
  bytes += little_endian(detail::masked_crc(record), 4);
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size() &&
      std::fflush(file_) == 0) {
    return;
  }
  throw Error({.what = "cannot write the event file",
               .path = path_.string(),
               .found = std::strerror(errno)});
}

void EventFile::add_scalar(std::string_view tag, std::int64_t step, double number) {
  ProtoMessage message = value_of(tag);
  message.add_float(value::kSimple, static_cast<float>(number));
  write_record(summary_event(step, message));
}

void EventFile::add_image(std::string_view tag, std::int64_t step, const EventImage& image) {
  ProtoMessage content;
  content.add_integer(image_field::kHeight, image.height);
  content.add_integer(image_field::kWidth, image.width);
  content.add_integer(image_field::kColourSpace, image.channels);
  content.add_text(image_field::kEncoded,
                   {reinterpret_cast<const char*>(image.png.data()), image.png.size()});
  ProtoMessage message = value_of(tag);
  message.add_message(value::kImage, content);
  write_record(summary_event(step, message));
}

void EventFile::add_histogram(std::string_view tag, std::int64_t step,
                              const EventHistogram& histogram) {
  ProtoMessage body;
  body.add_double(histogram_field::kMin, histogram.least);
  body.add_double(histogram_field::kMax, histogram.greatest);
  body.add_double(histogram_field::kNum, histogram.count);
  body.add_double(histogram_field::kSum, histogram.sum);
  body.add_double(histogram_field::kSumSquares, histogram.sum_of_squares);
  body.add_doubles(histogram_field::kLimits, histogram.limits);
  body.add_doubles(histogram_field::kCounts, histogram.counts);
  ProtoMessage message = value_of(tag);
  message.add_message(value::kHistogram, body);
  write_record(summary_event(step, message));
}

// A tensor of one string, which the plugin "text" shows as Markdown.
void EventFile::add_text(std::string_view tag, std::int64_t step, std::string_view markdown) {
  ProtoMessage plugin, metadata, tensor;
  plugin.add_text(1, "text");
  metadata.add_message(1, plugin);
  tensor.add_integer(tensor_field::kDtype, tensor_field::kStringType);
  tensor.add_message(tensor_field::kShape, {});
  tensor.add_text(tensor_field::kStrings, markdown);
  ProtoMessage message = value_of(tag);
  message.add_message(value::kTensor, tensor);
  message.add_message(value::kMetadata, metadata);
  write_record(summary_event(step, message));
}

}  // namespace stoker
