#include "stoker/data/sources/idx.h"

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/digest.h"
#include "stoker/core/error.h"
#include "stoker/core/input_file.h"
#include "stoker/core/invariant.h"
#include "stoker/core/memory_limit.h"
#include "stoker/core/pages.h"
#include "stoker/data/detail/byte_reader.h"
#include "stoker/data/detail/frame_sample.h"

namespace stoker {
namespace {

constexpr std::size_t kMagicBytes = 4;
constexpr std::size_t kMaxDimensions = 4;
// Deflate's best case: a match of 258 bytes in 2 bits.
constexpr std::uint64_t kMaxDeflateRatio = 1032;
constexpr const char* kFetchAgain =
    "The file is cut short, perhaps by a broken download: fetch it again.";

// Fills in what all messages about one file share. Offsets count unpacked bytes.
struct Place {
  const std::string& name;
  bool packed;

  [[nodiscard]] ErrorDetails at(std::uint64_t offset) const {
    return {.what = packed ? "cannot read IDX file (offset as unpacked)" : "cannot read IDX file",
            .path = name,
            .offset = offset};
  }
};

[[noreturn]] void fail(ErrorDetails details, std::string expected, std::string found,
                       std::string hint) {
  details.expected = std::move(expected);
  details.found = std::move(found);
  details.hint = std::move(hint);
  throw Error(std::move(details));
}

std::uint32_t big_endian_u32(std::span<const std::uint8_t, 4> bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]};
}

// The next big-endian number of the header, `offset` being its place.
std::uint32_t read_u32(detail::ByteReader& reader, std::size_t offset, const Place& place) {
  std::array<std::uint8_t, 4> bytes{};
  const std::size_t got = reader.read(bytes);
  if (got < bytes.size()) {
    fail(place.at(offset + got),
         offset == 0 ? "a magic number of 4 bytes" : "a dimension of 4 bytes",
         fmt::format("the end of the file after {}", got), kFetchAgain);
  }
  return big_endian_u32(bytes);
}

std::size_t dimensions_of(std::uint32_t magic, const Place& place) {
  switch (magic) {
    case 0x00000801:
      return 1;
    case 0x00000803:
      return 3;
    case 0x00000804:
      return 4;
    default:
      fail(place.at(0), "magic 00000801 (labels), 00000803 (images) or 00000804 (colour images)",
           fmt::format("{:08x}", magic),
           "Stoker reads IDX files of unsigned bytes, plain or gzip; is this another format?");
  }
}

void check_side(const char* side, std::uint32_t value, std::size_t offset, const Place& place) {
  if (value >= 1 && value <= static_cast<std::uint32_t>(kMaxSide)) return;
  fail(place.at(offset), fmt::format("a {} of 1 to {}", side, kMaxSide), fmt::format("{}", value),
       "The header is damaged: fetch the file again.");
}

// nullopt where the product does not fit.
std::optional<std::uint64_t> product(std::span<const std::uint32_t> factors) {
  std::uint64_t result = 1;
  for (const std::uint32_t factor : factors) {
    if (__builtin_mul_overflow(result, factor, &result)) return std::nullopt;
  }
  return result;
}

IdxHeader header_from(std::span<const std::uint32_t> dimensions, const Place& place) {
  IdxHeader header;
  header.header_bytes = kMagicBytes + 4 * dimensions.size();
  header.count = dimensions[0];
  if (dimensions.size() >= 3) {
    header.kind = IdxKind::kImages;
    check_side("height", dimensions[1], 8, place);
    check_side("width", dimensions[2], 12, place);
    header.shape = {static_cast<int>(dimensions[1]), static_cast<int>(dimensions[2]), 1};
  }
  if (dimensions.size() == 4) {
    if (dimensions[3] != 3) {
      fail(place.at(16), "3 channels", fmt::format("{}", dimensions[3]),
           "Colour images lie as n, height, width, 3.");
    }
    header.shape.channels = 3;
  }
  const auto bytes = product(dimensions);
  if (!bytes) {
    fail(place.at(kMagicBytes), "dimensions whose product fits into 64 bits",
         fmt::format("{}", fmt::join(dimensions, " x ")),
         "The header is damaged: fetch the file again.");
  }
  header.value_bytes = *bytes;
  return header;
}

IdxHeader read_header(detail::ByteReader& reader, const Place& place) {
  const std::size_t count = dimensions_of(read_u32(reader, 0, place), place);
  std::array<std::uint32_t, kMaxDimensions> dimensions{};
  for (std::size_t i = 0; i < count; ++i) {
    dimensions[i] = read_u32(reader, kMagicBytes + 4 * i, place);
  }
  return header_from(std::span(dimensions).first(count), place);
}

// From the first bytes of a plain file of that size.
IdxHeader plain_header(std::span<const std::byte> begin, std::uint64_t size, const Place& place) {
  detail::PlainReader reader(begin);
  const IdxHeader header = read_header(reader, place);
  const std::uint64_t found = size - header.header_bytes;
  if (found != header.value_bytes) {
    const bool truncated = found < header.value_bytes;
    fail(place.at(header.header_bytes + std::min(found, header.value_bytes)),
         fmt::format("{} bytes after the header", header.value_bytes), fmt::format("{}", found),
         truncated ? kFetchAgain : "Bytes follow the last value: is this really one IDX file?");
  }
  return header;
}

IdxArray parse_plain(std::span<const std::byte> bytes, std::string name) {
  const IdxHeader header = plain_header(bytes, bytes.size(), {name, /*packed=*/false});
  const auto* values = reinterpret_cast<const std::uint8_t*>(bytes.data()) + header.header_bytes;
  return {.name = std::move(name),
          .header = header,
          .values = {values, static_cast<std::size_t>(header.value_bytes)},
          .memory = nullptr,
          .file = nullptr};
}

// Refuses what cannot be true or would take too much, before any memory is taken.
void check_promise(const IdxHeader& header, std::size_t packed_bytes, const IdxLimits& limits,
                   const Place& place) {
  if (header.value_bytes / kMaxDeflateRatio > packed_bytes) {
    fail(place.at(kMagicBytes),
         fmt::format("at most {} values, all that {} packed bytes can hold",
                     packed_bytes * kMaxDeflateRatio, packed_bytes),
         fmt::format("a header that promises {}", header.value_bytes),
         "The file is cut short, damaged, or made to exhaust memory.");
  }
  if (header.value_bytes > limits.max_bytes) {
    fail(place.at(kMagicBytes), fmt::format("at most {} bytes of values", limits.max_bytes),
         fmt::format("{}", header.value_bytes),
         "Unpack the file with gunzip: a large plain one stays on the disk.");
  }
}

// Read in random order again and again, hence pages of its own.
std::shared_ptr<std::uint8_t> allocate(std::uint64_t bytes, const Place& place) {
  try {
    const auto pages =
        std::make_shared<Pages>(std::max<std::uint64_t>(1, bytes), "unpacked values");
    return {pages, reinterpret_cast<std::uint8_t*>(pages->bytes().data())};
  } catch (const Error& error) {
    ErrorDetails details = place.at(kMagicBytes);
    details.causes = {error.details()};
    fail(std::move(details), fmt::format("memory for {} bytes of values", bytes), "none",
         "Unpack the file with gunzip: a large plain one stays on the disk.");
  }
}

IdxArray parse_gzip(std::span<const std::byte> bytes, std::string name, const IdxLimits& limits) {
  const Place place{name, /*packed=*/true};
  detail::GzipReader reader(bytes, name);
  const IdxHeader header = read_header(reader, place);
  check_promise(header, bytes.size(), limits, place);
  const auto memory = allocate(header.value_bytes, place);
  const std::span values(memory.get(), static_cast<std::size_t>(header.value_bytes));
  const std::size_t got = reader.read(values);
  if (got < values.size()) {
    fail(place.at(header.header_bytes + got),
         fmt::format("{} bytes after the header", values.size()), fmt::format("{}", got),
         "The header does not fit the values: fetch the file again.");
  }
  // Asking for one byte more also makes zlib read the checksum at the end.
  std::array<std::uint8_t, 1> extra{};
  if (reader.read(extra) != 0) {
    fail(place.at(header.header_bytes + values.size()), "the end of the data", "more bytes",
         "Bytes follow the last value: is this really one IDX file?");
  }
  return {.name = std::move(name),
          .header = header,
          .values = values,
          .memory = memory,
          .file = nullptr};
}

// Whether images of this size stay in their file.
bool stays_on_disk(std::uint64_t bytes, const IdxLimits& limits) {
  constexpr std::uint64_t kSmall = std::uint64_t{64} << 20;  // not worth a look at the memory
  return bytes > limits.max_in_memory || (bytes > kSmall && bytes > memory_limit() / 8);
}

IdxArray open_images(const std::filesystem::path& path, const IdxLimits& limits) {
  auto file = std::make_shared<const InputFile>(path);
  std::array<std::byte, kMagicBytes + 4 * kMaxDimensions> memory{};
  const std::size_t count = std::min<std::uint64_t>(memory.size(), file->size());
  const auto begin = file->read(0, std::span(memory).first(count)).value();
  if (detail::looks_like_gzip(begin) || !stays_on_disk(file->size(), limits)) {
    return read_idx(path, limits);
  }
  IdxArray array{.name = path.string(), .header = {}, .values = {}, .memory = {}, .file = {}};
  array.header = plain_header(begin, file->size(), {array.name, /*packed=*/false});
  array.file = std::move(file);
  return array;
}

void check_kind(const IdxArray& array, IdxKind kind) {
  if (array.header.kind == kind) return;
  const bool want_images = kind == IdxKind::kImages;
  throw Error({.what = "cannot use IDX file",
               .path = array.name,
               .offset = 0,
               .expected = want_images ? "images" : "labels",
               .found = want_images ? "labels" : "images",
               .hint = "Were the two files swapped?"});
}

void check_counts(const IdxArray& images, const IdxArray& labels) {
  if (images.header.count != labels.header.count) {
    throw Error({.what = "images and labels do not belong together",
                 .path = labels.name,
                 .offset = kMagicBytes,
                 .expected = fmt::format("{} labels, one for each image of {}", images.header.count,
                                         images.name),
                 .found = fmt::format("{}", labels.header.count),
                 .hint = "Take both files from the same dataset and split."});
  }
  if (images.header.count == 0) {
    throw Error({.what = "cannot use an empty dataset",
                 .path = images.name,
                 .offset = kMagicBytes,
                 .expected = "at least one image",
                 .found = "0",
                 .hint = "Fetch the file again."});
  }
}

void check_labels(const IdxArray& labels, std::size_t classes) {
  const auto bad =
      std::ranges::find_if(labels.values, [&](auto label) { return label >= classes; });
  if (bad == labels.values.end()) return;
  const auto index = static_cast<std::uint64_t>(bad - labels.values.begin());
  throw Error({.what = fmt::format("label of sample {} has no class name", index),
               .path = labels.name,
               .offset = labels.header.header_bytes + index,
               .expected = fmt::format("a label below {}, the number of class names", classes),
               .found = fmt::format("{}", *bad),
               .hint = "Name every class, or check that the labels belong to this dataset."});
}

}  // namespace

IdxArray parse_idx(std::span<const std::byte> bytes, std::string name, const IdxLimits& limits) {
  if (detail::looks_like_gzip(bytes)) return parse_gzip(bytes, std::move(name), limits);
  return parse_plain(bytes, std::move(name));
}

IdxArray read_idx(const std::filesystem::path& path, const IdxLimits& limits) {
  auto file = std::make_shared<const FileBytes>(path);
  IdxArray array = parse_idx(file->bytes(), path.string(), limits);
  if (array.memory == nullptr) array.memory = std::move(file);
  return array;
}

std::uint64_t digest_of_values(const IdxArray& array) {
  if (array.file == nullptr) return digest64(std::as_bytes(array.values));
  const Pages pages(array.header.value_bytes, "the values of an IDX file");
  return digest64(array.file->read(array.header.header_bytes, pages.bytes()).value());
}

std::vector<std::string> numbered_class_names(const IdxArray& labels) {
  std::vector<std::string> names;
  if (labels.values.empty()) return names;
  const int largest = *std::ranges::max_element(labels.values);
  for (int label = 0; label <= largest; ++label) names.push_back(std::to_string(label));
  return names;
}

IdxSource::IdxSource(IdxArray images, IdxArray labels, std::vector<std::string> class_names)
    : images_(std::move(images)), labels_(std::move(labels)), class_names_(std::move(class_names)) {
  check_kind(images_, IdxKind::kImages);
  check_kind(labels_, IdxKind::kLabels);
  check_counts(images_, labels_);
  if (class_names_.empty()) class_names_ = numbered_class_names(labels_);
  check_labels(labels_, class_names_.size());
}

std::string IdxSource::sample_name(std::uint64_t index) const {
  return fmt::format("{}#{}", images_.name, index);
}

void IdxSource::prefetch(std::uint64_t index) const noexcept {
  if (index >= size() || images_.file != nullptr) return;
  // Samples are taken in random order, so each is a chain of cache misses that no hardware
  // foresees. Large images are left alone: they would push out what is being worked on.
  constexpr std::size_t kLine = 64, kMostBytes = 16 << 10;
  const std::size_t bytes = images_.header.shape.bytes();
  if (bytes > kMostBytes) return;
  const std::uint8_t* image = images_.values.data() + index * bytes;
  for (std::size_t i = 0; i < bytes; i += kLine) __builtin_prefetch(image + i);
  __builtin_prefetch(image + bytes - 1);
  __builtin_prefetch(labels_.values.data() + index);
}

Sample IdxSource::sample_of(std::uint64_t index, const std::uint8_t* pixels) const {
  const ImageShape& shape = images_.header.shape;
  return {.image = {pixels, shape, shape.bytes_per_row()}, .label = labels_.values[index]};
}

Result<Sample> IdxSource::read(std::uint64_t index, SampleBuffer& buffer) const {
  STOKER_INVARIANT(index < size(), "index={} size={}", index, size());
  if (images_.file == nullptr) {
    return sample_of(index, images_.values.data() + index * images_.header.shape.bytes());
  }
  const auto room = [&buffer](std::size_t bytes) -> std::span<std::byte> {
    buffer.file.resize(bytes);
    return buffer.file;
  };
  auto bytes = read_bytes(index, room);
  if (!bytes) return bytes.error();
  return sample_of(index, reinterpret_cast<const std::uint8_t*>(bytes->data()));
}

Result<std::span<const std::byte>> IdxSource::read_bytes(std::uint64_t index,
                                                         const MakeRoom& room) const {
  if (images_.file == nullptr) return std::span<const std::byte>();
  const std::size_t size = images_.header.shape.bytes();
  auto bytes = images_.file->read(images_.header.header_bytes + index * size, room(size));
  if (!bytes) return bytes;
  try {
    // There is no checksum that would tell.
    images_.file->check_unchanged();
  } catch (const Error& error) {
    return error.details();
  }
  return bytes;
}

Result<Sample> IdxSource::decode(std::uint64_t index, std::span<const std::byte> bytes,
                                 const FrameRequest& request, SampleBuffer& buffer) const {
  if (images_.file == nullptr) return read_framed(index, request, buffer);
  STOKER_INVARIANT(bytes.size() == images_.header.shape.bytes(), "{} bytes", bytes.size());
  const auto* pixels = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return detail::frame_sample(sample_of(index, pixels), request, buffer);
}

std::shared_ptr<const IdxSource> open_idx(const std::filesystem::path& images_path,
                                          const std::filesystem::path& labels_path,
                                          std::vector<std::string> class_names,
                                          const IdxLimits& limits) {
  IdxArray images = open_images(images_path, limits);  // first: its errors matter more
  IdxArray labels = read_idx(labels_path, limits);
  return std::make_shared<const IdxSource>(std::move(images), std::move(labels),
                                           std::move(class_names));
}

}  // namespace stoker
