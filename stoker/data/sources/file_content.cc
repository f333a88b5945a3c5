#include "stoker/data/sources/file_content.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string_view>

#include "stoker/image/other_formats.h"

namespace stoker::detail {
namespace {

using namespace std::string_view_literals;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint64_t little_endian(std::string_view text) {
  std::uint64_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(text[i]);
  return value;
}

// Where the first scan of a JPEG begins; npos where the file ends before. Segments are skipped by
// their length, because a small image inside EXIF has markers of its own.
std::size_t first_scan(std::string_view text) {
  for (std::size_t at = text.find('\xFF', 2);
       at != std::string_view::npos && text.size() - at >= 4;) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
    if (byte(1) == 0xDA) return at;
    const bool has_length =
        byte(1) >= 0xC0 && byte(1) < 0xFF && !(byte(1) >= 0xD0 && byte(1) <= 0xD9);
    at += has_length ? 2U + (byte(2) << 8 | byte(3)) : 1U;
    at = text.find('\xFF', std::min(at, text.size()));
  }
  return std::string_view::npos;
}

struct Signature {
  std::size_t at;
  std::string_view bytes, name;
};
// What people save in place of an image, and formats whose first bytes alone say little.
constexpr Signature kOthers[] = {
    {0, "BM"sv, "a BMP image"},
    {0, "\xFF\x0A"sv, "a JPEG XL image"},
    {0, "%PDF"sv, "a PDF file"},
    {0, "PK\x03\x04"sv, "a ZIP archive"},
    {0, "\x1F\x8B"sv, "a gzip file"},
    {0, "version https://git-lfs"sv, "a Git LFS pointer instead of the file"},
};

std::string_view named_by(std::span<const Signature> signatures, std::string_view text) {
  for (const Signature& signature : signatures) {
    if (text.size() < signature.at) continue;
    if (text.substr(signature.at).starts_with(signature.bytes)) return signature.name;
  }
  return "";
}

// An image of a format that is not read here.
std::string_view other_image(std::span<const std::byte> bytes) {
  const OtherFormat* format = sniff_other_format(bytes);
  return format == nullptr ? "" : format->name;
}

std::string_view readable_image(ImageFormat format) {
  switch (format) {
    case ImageFormat::kJpeg:
      return "a JPEG image";
    case ImageFormat::kPng:
      return "a PNG image";
    case ImageFormat::kWebp:
      return "a WebP image";
    case ImageFormat::kTiff:
      return "a TIFF image";
    case ImageFormat::kBmp:
      return "a BMP image";
    case ImageFormat::kPnm:
      return "a PNM image";
  }
  return "";
}

bool starts_with_word(std::string_view text, std::string_view word) {
  if (text.size() < word.size()) return false;
  return std::equal(word.begin(), word.end(), text.begin(), [](char expected, char found) {
    return expected == std::tolower(static_cast<unsigned char>(found));
  });
}

bool is_html(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  text.remove_prefix(first);
  return starts_with_word(text, "<!doctype html") || starts_with_word(text, "<html");
}

}  // namespace

bool is_cut_short(std::span<const std::byte> bytes, ImageFormat format) {
  const std::string_view text = text_of(bytes);
  switch (format) {
    case ImageFormat::kJpeg: {
      const std::size_t scan = first_scan(text);
      return scan == std::string_view::npos ||
             text.find("\xFF\xD9"sv, scan) == std::string_view::npos;
    }
    case ImageFormat::kPng:
      return text.find("IEND"sv) == std::string_view::npos;
    case ImageFormat::kWebp:
      return text.size() < 8 || little_endian(text.substr(4)) + 8 > text.size();
    case ImageFormat::kTiff:
    case ImageFormat::kBmp:
    case ImageFormat::kPnm:
      break;  // only their decoders know
  }
  return false;
}

std::string_view image_signature(std::span<const std::byte> bytes) {
  if (const auto format = sniff_format(bytes)) return readable_image(*format);
  return other_image(bytes);
}

std::string describe_content(std::span<const std::byte> bytes) {
  const std::string_view text = text_of(bytes);
  if (text.empty()) return "an empty file";
  if (std::all_of(text.begin(), text.end(), [](char c) { return c == '\0'; })) {
    return "zero bytes only";
  }
  for (const std::string_view name : {other_image(bytes), named_by(kOthers, text)}) {
    if (!name.empty()) return std::string(name);
  }
  if (is_html(text.substr(0, 1024))) return "an HTML page, such as a failed download leaves";
  return "";
}

}  // namespace stoker::detail
