#include "stoker/data/sources/dark_images.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "stoker/data/sources/folder_source.h"
#include "stoker/data/sources/source_view.h"

namespace stoker {
namespace {

// Of an image of 16 bits a value; nothing for others, and for those that cannot be read.
std::optional<int> brightest_of_sixteen_bits(const FolderSource& source, std::uint64_t index,
                                             const DecodeLimits& limits) {
  std::vector<std::byte> file;
  auto bytes = source.read_bytes(index, [&](std::size_t size) -> std::span<std::byte> {
    file.resize(size);
    return file;
  });
  if (!bytes) return std::nullopt;
  ImageDecoder decoder(limits);
  auto header = decoder.open(*bytes);
  if (!header || header->bits != 16) return std::nullopt;
  auto image = decoder.decode({});
  if (!image) return std::nullopt;
  return brightest_value(image->pixels);
}

}  // namespace

int brightest_value(const ImageView& pixels) {
  int brightest = 0;
  for (int y = 0; y < pixels.shape.height; ++y) {
    const std::uint8_t* row = pixels.row(y);
    brightest =
        std::max<int>(brightest, *std::max_element(row, row + pixels.shape.bytes_per_row()));
  }
  return brightest;
}

std::string warn_of_dark_images(const Source& source, const DecodeLimits& limits) {
  const Source* at = &source;
  while (const auto* view = dynamic_cast<const SourceView*>(at)) at = &view->source();
  const auto* folder = dynamic_cast<const FolderSource*>(at);
  if (folder == nullptr || folder->size() == 0 || folder->depth() != 8) return "";
  const std::uint64_t looked_at = std::min<std::uint64_t>(16, folder->size());
  std::uint64_t dark = 0;
  int brightest = 0;
  std::string example;
  for (std::uint64_t i = 0; i < looked_at; ++i) {
    const std::uint64_t index = i * folder->size() / looked_at;
    const auto value = brightest_of_sixteen_bits(*folder, index, limits);
    if (!value || *value > kDarkLimit) continue;
    if (++dark == 1) example = folder->sample_name(index);
    brightest = std::max(brightest, *value);
  }
  if (2 * dark < looked_at) return "";
  return fmt::format(
      "{} of {} images examined are nearly black, such as {}: they have 16 bits a value and use "
      "few of them. Only the high byte is read: the brightest value is {} of 255. Use `depth` 16 "
      "with a `window`, or multiply their values, by 16 if they have 12 bits: magick in.png "
      "-evaluate multiply 16 out.png. "
      "`stoker doctor` lists all of them.",
      dark, looked_at, example, brightest);
}

}  // namespace stoker
