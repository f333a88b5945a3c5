#include "stoker/image/other_formats.h"

#include <algorithm>

#include <fmt/format.h>

namespace stoker {
namespace {

using namespace std::string_view_literals;

constexpr OtherFormat kGif{"a GIF image", "magick in.gif out.png"},
    kHeic{"a HEIC image", "heif-convert in.heic out.png"},
    kAvif{"an AVIF image", "avifdec in.avif out.png"},
    kJpeg2000{"a JPEG 2000 image", "opj_decompress -i in.jp2 -o out.png"},
    kJpegXl{"a JPEG XL image", "djxl in.jxl out.png"},
    kPam{"a PAM image (P7)", "pamtopnm in.pam > out.pnm"},
    kPfm{"a PFM image", "magick in.pfm out.tif"},
    kPhotoshop{"a Photoshop file", "magick in.psd[0] out.png"},
    kExr{"an OpenEXR image", "magick in.exr out.png"};

struct OtherSignature {
  std::size_t at;
  std::string_view bytes;
  const OtherFormat* format;
};
constexpr OtherSignature kSignatures[] = {
    {0, "GIF87a"sv, &kGif},
    {0, "GIF89a"sv, &kGif},
    {4, "ftypavif"sv, &kAvif},
    {4, "ftypavis"sv, &kAvif},
    {4, "ftyphei"sv, &kHeic},  // heic, heix, heim, heis
    {4, "ftyphev"sv, &kHeic},  // hevc, hevx, hevm, hevs
    {4, "ftypmif1"sv, &kHeic},
    {4, "ftypmsf1"sv, &kHeic},
    {0, "\0\0\0\x0CjP  "sv, &kJpeg2000},
    {0, "\xFF\x4F\xFF\x51"sv, &kJpeg2000},
    {0, "\0\0\0\x0CJXL "sv, &kJpegXl},
    {0, "P7\n"sv, &kPam},
    {0, "Pf\n"sv, &kPfm},
    {0, "PF\n"sv, &kPfm},
    {0, "8BPS\0\x01"sv, &kPhotoshop},
    {0, "\x76\x2F\x31\x01"sv, &kExr},
};

// Other extensions of the same formats.
constexpr std::pair<std::string_view, const OtherFormat*> kExtensions[] = {
    {".gif", &kGif},       {".heic", &kHeic},    {".heif", &kHeic},    {".hif", &kHeic},
    {".avif", &kAvif},     {".jp2", &kJpeg2000}, {".j2k", &kJpeg2000}, {".jpf", &kJpeg2000},
    {".jpx", &kJpeg2000},  {".jxl", &kJpegXl},   {".pam", &kPam},      {".pfm", &kPfm},
    {".psd", &kPhotoshop}, {".exr", &kExr}};

// Brands of files whose first brand only says "an image in this kind of box": AVIF or HEIC.
bool names_avif(std::string_view text) {
  return text.substr(0, 32).find("avif"sv) != std::string_view::npos;
}

}  // namespace

const OtherFormat* sniff_other_format(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const OtherSignature& signature : kSignatures) {
    if (text.size() < signature.at) continue;
    if (!text.substr(signature.at).starts_with(signature.bytes)) continue;
    return signature.format == &kHeic && names_avif(text) ? &kAvif : signature.format;
  }
  return nullptr;
}

const OtherFormat* other_format_of(std::string_view extension) {
  const auto* found = std::ranges::find(kExtensions, extension,
                                        &std::pair<std::string_view, const OtherFormat*>::first);
  return found == std::end(kExtensions) ? nullptr : found->second;
}

std::string conversion_hint(const OtherFormat& format) {
  return fmt::format("Convert it, for example with `{}`", format.command);
}

}  // namespace stoker
