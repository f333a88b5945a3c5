#include "stoker/data/sources/folder_source.h"

#include <utility>

#include <fmt/format.h>

#include "stoker/core/input_file.h"
#include "stoker/data/detail/image_decode.h"

namespace stoker {
namespace {

// More than any image within the limits takes; checked before memory is taken.
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 30;

// All bytes of a file.
Result<std::span<const std::byte>> read_file(const std::string& path, const MakeRoom& room) {
  auto file = InputFile::open(path, "cannot read the image");
  if (!file) return file.error();
  if (file->size() > kMaxFileBytes) {
    return ErrorDetails{.what = "cannot read the image",
                        .path = path,
                        .found = fmt::format("{} bytes, more than a gigabyte", file->size())};
  }
  return file->read(0, room(file->size()));
}

// Room in the reader's buffer, whose memory is kept.
MakeRoom room_in(std::vector<std::byte>& bytes) {
  return [&bytes](std::size_t size) -> std::span<std::byte> {
    bytes.resize(size);
    return bytes;
  };
}

}  // namespace

void check_folder_options(const FolderOptions& options) {
  if (!options.window || options.depth == 16) return;
  throw OptionError({.what = "a window is for values of 16 bits",
                     .expected = "`depth` 16 with `window`",
                     .found = fmt::format("`depth` {}", options.depth)});
}

FolderSource::FolderSource(ImageListing listing, const FolderOptions& options)
    : listing_(std::move(listing)), options_(options) {
  check_folder_options(options);
}

Error images_differ(const std::string& where) {
  return Error({.what = "the images may differ in size",
                .path = where,
                .expected = "a policy that begins with their size",
                .hint = "For example `aa` imagenet-train, or `aa` \"resize(224,224)\""});
}

ImageShape FolderSource::shape() const { throw images_differ(listing_.root.string()); }

std::string FolderSource::sample_name(std::uint64_t index) const {
  return (listing_.root / listing_.images.at(index).path).string();
}

Result<std::span<const std::byte>> FolderSource::read_bytes(std::uint64_t index,
                                                            const MakeRoom& room) const {
  auto bytes = read_file(sample_name(index), room);
  if (bytes) return bytes;
  return with_line(bytes.error(), index);
}

Result<std::size_t> FolderSource::read_fields(std::uint64_t index, std::span<float> out) const {
  listing_.fields.read(index, out);
  return out.size();
}

// Who reads of a file that cannot be used wants to know where it is named.
ErrorDetails FolderSource::with_line(ErrorDetails error, std::uint64_t index) const {
  const std::uint32_t line = listing_.images[index].line;
  if (line == 0) return error;
  error.hint += fmt::format("{}Line {} of {} names it", error.hint.empty() ? "" : ". ", line,
                            listing_.table.string());
  return error;
}

Result<Sample> FolderSource::read(std::uint64_t index, SampleBuffer& buffer) const {
  return read_framed(index, {}, buffer);
}

Result<Sample> FolderSource::read_framed(std::uint64_t index, const FrameRequest& request,
                                         SampleBuffer& buffer) const {
  if (request.again) return decode(index, buffer.file, request, buffer);
  auto bytes = read_bytes(index, room_in(buffer.file));
  if (!bytes) return bytes.error();
  return decode(index, *bytes, request, buffer);
}

Result<Sample> FolderSource::decode(std::uint64_t index, std::span<const std::byte> bytes,
                                    const FrameRequest& request, SampleBuffer& buffer) const {
  auto image = detail::decode_image(bytes, options_, request, buffer);
  if (image) return Sample{.image = *image, .label = listing_.images[index].label};
  ErrorDetails error = image.error();
  error.path = sample_name(index);
  return with_line(std::move(error), index);
}

}  // namespace stoker
