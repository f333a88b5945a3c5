#include "stoker/data/sources/encoded_source.h"

#include <utility>

#include <fmt/format.h>

#include "stoker/data/detail/image_decode.h"

namespace stoker {
namespace {

std::string size_text(const ImageShape& shape) {
  return fmt::format("{} x {} pixels", shape.width, shape.height);
}

MakeRoom room_of(SampleBuffer& buffer) {
  return [&buffer](std::size_t size) -> std::span<std::byte> {
    buffer.file.resize(size);
    return buffer.file;
  };
}

}  // namespace

EncodedSource::EncodedSource(const FolderOptions& options) : options_(options) {
  check_folder_options(options);
}

ImageShape EncodedSource::shape() const {
  std::call_once(shape_found_, [this] { shape_ = find_shape(); });
  return *shape_;
}

ImageShape EncodedSource::find_shape() const {
  SampleBuffer buffer;
  const auto bytes = read_bytes(0, room_of(buffer)).value();
  auto image = decode_file(bytes, {}, buffer);
  if (!image) {
    ErrorDetails error = image.error();
    error.path = sample_name(0);
    throw Error(error);
  }
  return image->shape;
}

std::uint64_t EncodedSource::file_bytes(std::uint64_t index) const {
  SampleBuffer buffer;
  return read_bytes(index, room_of(buffer)).value().size();
}

Result<Sample> EncodedSource::read(std::uint64_t index, SampleBuffer& buffer) const {
  return read_framed(index, {}, buffer);
}

Result<Sample> EncodedSource::read_framed(std::uint64_t index, const FrameRequest& request,
                                          SampleBuffer& buffer) const {
  // A source that gives memory of its own leaves the buffer empty.
  if (request.again && !buffer.file.empty()) return decode(index, buffer.file, request, buffer);
  buffer.file.clear();
  auto bytes = read_bytes(index, room_of(buffer));
  if (!bytes) return bytes.error();
  return decode(index, *bytes, request, buffer);
}

Result<Sample> EncodedSource::decode(std::uint64_t index, std::span<const std::byte> bytes,
                                     const FrameRequest& request, SampleBuffer& buffer) const {
  auto image = decode_file(bytes, request, buffer);
  if (image) image = checked(*image, request);
  if (image) {
    auto known = label(index, buffer);
    if (!known) return known.error();
    return Sample{.image = *image, .label = *known};
  }
  ErrorDetails error = image.error();
  error.path = sample_name(index);
  return error;
}

Result<ImageView> EncodedSource::decode_file(std::span<const std::byte> bytes,
                                             const FrameRequest& request,
                                             SampleBuffer& buffer) const {
  return detail::decode_image(bytes, options_, request, buffer);
}

Result<ImageView> EncodedSource::frame_image(const ImageView& image, const FrameRequest& request,
                                             SampleBuffer& buffer) const {
  if (request.framing == nullptr) return checked(image, request);
  Rng rng = Policy::framing_rng(request.key);
  const Frame frame = request.framing->draw(rng, image.shape.width, image.shape.height);
  const Region& region = frame.region;
  // Of the region alone, as a decoder gives it: pixels around it do not enter.
  ImageView part = image;
  part.data =
      image.row(region.top) + static_cast<std::size_t>(region.left) * image.shape.bytes_per_pixel();
  part.shape.width = region.width;
  part.shape.height = region.height;
  buffer.framed.reshape(
      {frame.cut.height, frame.cut.width, image.shape.channels, image.shape.depth});
  apply_frame(buffer.framed.view(), part, {0, 0, 1.0 * region.width, 1.0 * region.height}, frame,
              request.options, buffer.framing);
  return std::as_const(buffer.framed).view();
}

// Samples of a batch have one size. In find_shape() there is nothing to compare with yet.
Result<ImageView> EncodedSource::checked(const ImageView& image,
                                         const FrameRequest& request) const {
  if (request.framing != nullptr || image.shape == shape()) return image;
  return ErrorDetails{.what = "the images differ in size",
                      .expected = size_text(shape()) + ", as the first one",
                      .found = size_text(image.shape),
                      .hint = "Begin the policy with a size, for example \"resize(224,224)\""};
}

}  // namespace stoker
