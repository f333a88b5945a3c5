#include "stoker/doctor/image_facts.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "stoker/core/digest.h"
#include "stoker/core/input_file.h"
#include "stoker/data/sources/dark_images.h"
#include "stoker/data/sources/file_content.h"

namespace stoker {
namespace {

// No camera writes more into one image; it keeps a misnamed disk image out of memory.
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 30;

// Fills `bytes`; the reason where that fails.
std::string read_all(const std::filesystem::path& path, std::vector<std::byte>& bytes) {
  auto file = InputFile::open(path);
  if (!file) {
    return file.error().expected.empty() ? file.error().found
                                         : fmt::format("not {}", file.error().expected);
  }
  if (file->size() > kMaxFileBytes) {
    return fmt::format("{} bytes, more than an image has", file->size());
  }
  bytes.resize(file->size());
  auto read = file->read(0, bytes);
  return read ? "" : read.error().found;
}

std::string digest_of_pixels(const ImageView& pixels) {
  Digest digest;
  const std::array<std::int32_t, 3> shape = {pixels.shape.height, pixels.shape.width,
                                             pixels.shape.channels};
  digest.add(std::as_bytes(std::span(shape)));
  for (int y = 0; y < pixels.shape.height; ++y) {
    digest.add(std::as_bytes(std::span(pixels.row(y), pixels.shape.bytes_per_row())));
  }
  return digest.hex();
}

bool is_blank(const ImageView& pixels) {
  const auto pixel = static_cast<std::size_t>(pixels.shape.channels);
  const std::size_t row_bytes = pixels.shape.bytes_per_row();
  const std::uint8_t* first = pixels.row(0);
  // Each pixel equals the one before it, then each row the first.
  if (std::memcmp(first, first + pixel, row_bytes - pixel) != 0) return false;
  for (int y = 1; y < pixels.shape.height; ++y) {
    if (std::memcmp(first, pixels.row(y), row_bytes) != 0) return false;
  }
  return true;
}

bool within(const ImageHeader& header, const DecodeLimits& limits) {
  return header.width <= limits.max_side && header.height <= limits.max_side &&
         std::int64_t{header.width} * header.height <= limits.max_pixels;
}

// Header checks are made here, so that the size of a refused image is known.
DecodeLimits without_size(DecodeLimits limits) {
  limits.max_side = std::numeric_limits<int>::max();
  limits.max_pixels = std::numeric_limits<std::int64_t>::max();
  return limits;
}

}  // namespace

ImageExaminer::ImageExaminer(const DecodeLimits& limits)
    : limits_(limits), decoder_(without_size(limits)) {}

ImageFacts ImageExaminer::examine(const std::filesystem::path& path) {
  ImageFacts facts;
  facts.reason = read_all(path, bytes_);
  if (!facts.reason.empty()) {
    facts.reason = "cannot read the file: " + facts.reason;
    return facts;
  }
  facts.file_digest = digest_of(bytes_);
  facts.format = sniff_format(bytes_);
  if (!facts.format) {
    const std::string content = detail::describe_content(bytes_);
    facts.reason = content.empty() ? "none of JPEG, PNG, WebP, TIFF, BMP, PNM" : content;
    return facts;
  }
  examine_bytes(facts);
  return facts;
}

void ImageExaminer::examine_bytes(ImageFacts& facts) {
  const auto refuse = [&](const ErrorDetails& error) {
    facts.reason = to_string(error);
    const bool said = error.found.find("cut short") != std::string::npos;
    if (said || detail::is_cut_short(bytes_, *facts.format)) facts.state = DecodeState::kTruncated;
  };
  auto header = decoder_.open(bytes_);
  if (!header) return refuse(header.error());
  facts.header = *header;
  if (!within(*header, limits_)) {
    facts.state = DecodeState::kTooLarge;
    facts.reason = fmt::format("{}x{}; the limit is {} pixels and {} a side", header->width,
                               header->height, limits_.max_pixels, limits_.max_side);
    return;
  }
  auto decoded = decoder_.decode({});
  if (!decoded) return refuse(decoded.error());
  facts.state = DecodeState::kDecoded;
  examine_pixels(facts, decoded->pixels);
}

void ImageExaminer::examine_pixels(ImageFacts& facts, const ImageView& pixels) {
  facts.pixel_digest = digest_of_pixels(pixels);
  facts.blank = is_blank(pixels);
  if (facts.header->bits == 16) facts.brightest = brightest_value(pixels);
  facts.sketch = sketch_of(pixels, scratch_);
}

}  // namespace stoker
