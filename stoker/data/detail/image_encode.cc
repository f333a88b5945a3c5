#include "stoker/data/detail/image_encode.h"

#include <algorithm>
#include <utility>

#include "stoker/core/error.h"
#include "stoker/image/jpeg.h"
#include "stoker/image/jpeg_index.h"
#include "stoker/image/png.h"
#include "stoker/kernels/resize/resize.h"

namespace stoker::detail {
namespace {

constexpr int kUsualQuality = 90;

std::string_view extension_of(ImageFormat format) {
  switch (format) {
    case ImageFormat::kJpeg:
      return "jpg";
    case ImageFormat::kPng:
      return "png";
    case ImageFormat::kWebp:
      return "webp";
    case ImageFormat::kTiff:
      return "tif";
    case ImageFormat::kBmp:
      return "bmp";
    case ImageFormat::kPnm:
      return "pnm";
  }
  return "";
}

[[noreturn]] void fail(const Source& source, std::uint64_t index, const ErrorDetails& cause) {
  ErrorDetails details = cause;
  details.path = source.sample_name(index);
  // Where it was about another file, such as a shard's.
  if (!cause.path.empty() && cause.path != details.path) details.causes = {cause};
  throw Error(std::move(details));
}

// With the longer side at most max_side.
Image shrunk(const ImageView& image, int max_side) {
  const int longer = std::max(image.shape.height, image.shape.width);
  if (max_side == 0 || longer <= max_side) return Image(image);
  const auto scaled = [&](int side) {
    return std::max(1, static_cast<int>((std::int64_t{side} * max_side + longer / 2) / longer));
  };
  Image out({.height = scaled(image.shape.height),
             .width = scaled(image.shape.width),
             .channels = image.shape.channels});
  ResizeScratch scratch;
  resize(out.view(), image, whole_image(image.shape), {}, scratch);
  return out;
}

Sample read_sample(const Source& source, std::uint64_t index, SampleBuffer& buffer) {
  auto sample = source.read(index, buffer);
  if (!sample) fail(source, index, sample.error());
  return *sample;
}

// With the length, so that two samples are not one longer one.
void add_bytes(Digest& digest, std::span<const std::byte> bytes) {
  digest.add_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void add_pixels(Digest& digest, const ImageView& image) {
  for (int y = 0; y < image.shape.height; ++y) {
    digest.add(std::as_bytes(std::span(image.row(y), image.shape.bytes_per_row())));
  }
}

}  // namespace

bool ImageEncoder::keeps(const ImageHeader& header) const {
  const int longer = std::max(header.width, header.height);
  return options_.quality == 0 && (options_.max_side == 0 || longer <= options_.max_side);
}

ImageEncoder::File ImageEncoder::encode_anew(const ImageHeader& header, ImageDecoder& decoder) {
  auto decoded = decoder.decode({.channels = header.grey ? 1 : 3});
  if (!decoded) throw Error(decoded.error());
  const Image image = shrunk(decoded->pixels, options_.max_side);
  encoded_ = encode_jpeg(image.view(), options_.quality > 0 ? options_.quality : kUsualQuality);
  return {.bytes = encoded_, .extension = "jpg"};
}

ImageEncoder::File ImageEncoder::encoded(const ImageHeader& header,
                                         std::span<const std::byte> bytes, ImageDecoder& decoder) {
  File file{.bytes = bytes, .extension = extension_of(header.format)};
  if (!keeps(header)) file = encode_anew(header, decoder);
  if (!options_.jpeg_index) return file;
  auto indexed = indexed_jpeg(file.bytes, options_.limits);
  const std::size_t most = file.bytes.size() + file.bytes.size() / 4;  // more is not worth it
  if (!indexed || indexed->size() > most) return file;
  indexed_ = *std::move(indexed);
  return {.bytes = indexed_, .extension = file.extension};
}

std::span<const std::byte> ImageEncoder::read_file(const Source& source, std::uint64_t index) {
  auto bytes = source.read_bytes(index, [&](std::size_t size) -> std::span<std::byte> {
    read_.resize(size);
    return read_;
  });
  if (!bytes) fail(source, index, bytes.error());
  return *bytes;
}

void ImageEncoder::add_content(const Source& source, std::uint64_t index, SampleBuffer& buffer,
                               Digest& content) {
  const std::span<const std::byte> bytes = read_file(source, index);
  if (bytes.empty()) {
    add_pixels(content, read_sample(source, index, buffer).image);
  } else {
    add_bytes(content, bytes);
  }
}

ImageEncoder::File ImageEncoder::file_of(const Source& source, std::uint64_t index,
                                         SampleBuffer& buffer, Digest& content) {
  const std::span<const std::byte> bytes = read_file(source, index);
  if (bytes.empty()) {
    const Sample sample = read_sample(source, index, buffer);
    add_pixels(content, sample.image);
    encoded_ = encode_png(sample.image);
    return {.bytes = encoded_, .extension = "png"};
  }
  add_bytes(content, bytes);
  if (!buffer.decoder) buffer.decoder = std::make_unique<ImageDecoder>(options_.limits);
  auto header = buffer.decoder->open(bytes);
  if (!header) fail(source, index, header.error());
  try {
    return encoded(*header, bytes, *buffer.decoder);
  } catch (const Error& error) {
    fail(source, index, error.details());
  }
}

}  // namespace stoker::detail
