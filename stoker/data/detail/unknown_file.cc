#include "stoker/data/detail/unknown_file.h"

#include <algorithm>
#include <array>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stoker/data/detail/letters.h"
#include "stoker/image/decode.h"

namespace stoker::detail {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kUnsupported = "unsupported image (";
constexpr std::string_view kMisnamed = "image without its extension (";

// Sorted, for the search.
constexpr std::array kImages = std::to_array<std::string_view>(
    {".apng", ".arw", ".avif", ".bmp",  ".cr2",  ".cr3", ".dcm", ".dib",  ".dicom", ".dng",
     ".exr",  ".gif", ".hdr",  ".heic", ".heif", ".hif", ".j2k", ".jfif", ".jp2",   ".jpe",
     ".jpf",  ".jpx", ".jxl",  ".nef",  ".orf",  ".pbm", ".pcx", ".pgm",  ".pnm",   ".ppm",
     ".psd",  ".raf", ".rw2",  ".sgi",  ".tga",  ".tif", ".tiff"});
// What lies beside images and never is one.
constexpr std::array kOthers = std::to_array<std::string_view>(
    {".7z",     ".avi",    ".bak",  ".bin",     ".bz2",   ".c",        ".cfg",         ".cls",
     ".conf",   ".cpp",    ".csv",  ".db",      ".doc",   ".docx",     ".gz",          ".h",
     ".h5",     ".htm",    ".html", ".ini",     ".ipynb", ".js",       ".json",        ".jsonl",
     ".log",    ".m",      ".mat",  ".md",      ".md5",   ".mov",      ".mp3",         ".mp4",
     ".npy",    ".npz",    ".onnx", ".parquet", ".pdf",   ".pickle",   ".pkl",         ".pt",
     ".pth",    ".py",     ".pyc",  ".rar",     ".rst",   ".rtf",      ".safetensors", ".sh",
     ".sha256", ".sqlite", ".svg",  ".tar",     ".tex",   ".tfrecord", ".toml",        ".tsv",
     ".txt",    ".url",    ".wav",  ".xls",     ".xlsx",  ".xml",      ".xz",          ".yaml",
     ".yml",    ".zip",    ".zst"});
static_assert(std::ranges::is_sorted(kImages) && std::ranges::is_sorted(kOthers));

struct Signature {
  std::size_t at;
  std::string_view bytes, name;
};
constexpr Signature kSignatures[] = {
    {0, "GIF87a"sv, "a GIF image"},
    {0, "GIF89a"sv, "a GIF image"},
    {0, "II*\0"sv, "a TIFF image"},
    {0, "MM\0*"sv, "a TIFF image"},
    {0, "II+\0"sv, "a TIFF image"},
    {4, "ftypavif"sv, "an AVIF image"},
    {4, "ftypheic"sv, "a HEIC image"},
    {4, "ftypheix"sv, "a HEIC image"},
    {4, "ftypmif1"sv, "a HEIC image"},
    {0, "\0\0\0\x0CjP  "sv, "a JPEG 2000 image"},
    {0, "\xFF\x4F\xFF\x51"sv, "a JPEG 2000 image"},
    {0, "\0\0\0\x0CJXL "sv, "a JPEG XL image"},
    {0, "8BPS\0\x01"sv, "a Photoshop file"},
    {0, "\x76\x2F\x31\x01"sv, "an OpenEXR image"},
};

// Two letters begin many a text; the header's reserved bytes are zero, its length below 256.
bool is_bmp(std::string_view text) {
  return text.size() >= 18 && text.starts_with("BM") && text.substr(6, 4) == "\0\0\0\0"sv &&
         text.substr(15, 3) == "\0\0\0"sv;
}

// The first bytes; empty where it cannot be read.
std::string first_bytes(int folder, const char* name) {
  // O_NONBLOCK: a pipe has no bytes to wait for.
  const int file = ::openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return "";
  std::string bytes(32, '\0');
  const ssize_t got = ::read(file, bytes.data(), bytes.size());
  ::close(file);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

}  // namespace

std::string_view image_signature(std::span<const std::byte> bytes) {
  if (const auto format = sniff_format(bytes)) {
    switch (*format) {
      case ImageFormat::kJpeg:
        return "a JPEG image";
      case ImageFormat::kPng:
        return "a PNG image";
      case ImageFormat::kWebp:
        return "a WebP image";
    }
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (is_bmp(text)) return "a BMP image";
  for (const Signature& signature : kSignatures) {
    if (text.size() < signature.at) continue;
    if (text.substr(signature.at).starts_with(signature.bytes)) return signature.name;
  }
  return "";
}

std::string UnknownFiles::reason(int folder, const char* name) {
  const std::string_view text = name;
  const std::size_t dot = text.rfind('.');
  const std::string_view written = dot == std::string_view::npos ? "" : text.substr(dot);
  const std::string extension = lower_case(written);
  if (std::ranges::binary_search(kImages, extension)) {
    return fmt::format("{}{})", kUnsupported, extension);
  }
  const std::string_view shown = written.empty() ? "no extension" : written;
  const std::string other = fmt::format("not a picture ({})", shown);
  constexpr int kMostOpened = 256;
  const auto opened = no_images_.find(extension);
  if (std::ranges::binary_search(kOthers, extension) ||
      (opened != no_images_.end() && opened->second >= kMostOpened)) {
    return other;
  }
  const std::string bytes = first_bytes(folder, name);
  const std::string_view signature = image_signature(std::as_bytes(std::span(bytes)));
  if (signature.empty()) {
    ++no_images_[extension];
    return other;
  }
  return fmt::format("{}{}, {})", kMisnamed, signature, shown);
}

bool is_image_reason(std::string_view reason) {
  return reason.starts_with(kUnsupported) || reason.starts_with(kMisnamed);
}

}  // namespace stoker::detail
