#include "stoker/data/detail/unknown_file.h"

#include <algorithm>
#include <array>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stoker/data/detail/letters.h"
#include "stoker/data/sources/file_content.h"

namespace stoker::detail {
namespace {

// Sorted, for the search.
constexpr std::array kImages = std::to_array<std::string_view>(
    {".apng", ".arw",  ".avif", ".cr2", ".cr3", ".dcm",  ".dib", ".dicom", ".dng", ".exr", ".gif",
     ".hdr",  ".heic", ".heif", ".hif", ".j2k", ".jfif", ".jp2", ".jpe",   ".jpf", ".jpx", ".jxl",
     ".nef",  ".orf",  ".pam",  ".pcx", ".pfm", ".psd",  ".raf", ".rw2",   ".sgi", ".tga"});
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

std::string UnknownFiles::reason(int folder, const char* name) {
  const std::string_view text = name;
  const std::size_t dot = text.rfind('.');
  const std::string_view written = dot == std::string_view::npos ? "" : text.substr(dot);
  const std::string extension = lower_case(written);
  if (std::ranges::binary_search(kImages, extension)) {
    return fmt::format("{}{})", kUnsupported, extension);
  }
  const std::string_view shown = written.empty() ? "no extension" : written;
  std::string other = fmt::format("not an image ({})", shown);
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

}  // namespace stoker::detail
