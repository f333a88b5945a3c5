// Formats of images that are recognised but not decoded, with a tool that converts them.
// Functions without state.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace stoker {

// What is decoded, in messages.
inline constexpr std::string_view kReadableFormats = "JPEG, PNG, WebP, TIFF, BMP or PNM";

struct OtherFormat {
  std::string_view name;     // "a GIF image"
  std::string_view command;  // "magick in.gif out.png"
};

// By the first 32 bytes; null where they are of none of these.
[[nodiscard]] const OtherFormat* sniff_other_format(std::span<const std::byte> bytes);
// By an extension in lower case, ".gif"; null where it is not known.
[[nodiscard]] const OtherFormat* other_format_of(std::string_view extension);

// "Convert it, for example with `magick in.gif out.png`"
[[nodiscard]] std::string conversion_hint(const OtherFormat& format);

}  // namespace stoker
