#include "stoker/io/checkpoint.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "stoker/core/digest.h"
#include "stoker/core/error.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDigest = "stoker.digest";
constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kSuffix = ".safetensors";

// Over names, types, shapes, values and metadata; in the order of names, since a file has its own.
std::string digest_of(std::vector<TensorView> tensors, const SafetensorsMetadata& metadata) {
  std::sort(tensors.begin(), tensors.end(),
            [](const TensorView& a, const TensorView& b) { return a.name < b.name; });
  Digest digest;
  for (const TensorView& tensor : tensors) {
    digest.add_text(tensor.name);
    digest.add_text(dtype_name(tensor.dtype));
    for (const std::int64_t side : tensor.shape) digest.add_text(std::to_string(side));
    digest.add(tensor.bytes);
  }
  for (const auto& [key, value] : metadata) {
    if (key == kDigest) continue;
    digest.add_text(key);
    digest.add_text(value);
  }
  return digest.hex();
}

bool is_checkpoint_name(const std::string& name) {
  return name.starts_with(kPrefix) && name.ends_with(kSuffix);
}

}  // namespace

void write_checkpoint(const fs::path& path, std::span<const TensorView> tensors,
                      SafetensorsMetadata metadata) {
  metadata[kDigest] = digest_of({tensors.begin(), tensors.end()}, metadata);
  write_safetensors(path, tensors, metadata, "checkpoint");
}

SafetensorsFile read_checkpoint(const fs::path& path) {
  SafetensorsFile file(path);
  const auto recorded = file.metadata().find(kDigest);
  const std::string found = digest_of(file.tensors(), file.metadata());
  if (recorded != file.metadata().end() && recorded->second == found) return file;
  throw Error({.what = "the checkpoint is damaged",
               .path = path.string(),
               .expected = recorded == file.metadata().end()
                               ? "a digest in its metadata"
                               : fmt::format("content with the digest {}", recorded->second),
               .found = recorded == file.metadata().end() ? "none" : found});
}

CheckpointFolder::CheckpointFolder(fs::path folder, int keep)
    : folder_(std::move(folder)), keep_(std::max(1, keep)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) {
    throw Error({.what = "cannot make the folder for checkpoints",
                 .path = folder_.string(),
                 .found = error.message()});
  }
  remove_unfinished_files(folder_);
}

void CheckpointFolder::save(std::uint64_t step, std::span<const TensorView> tensors,
                            const SafetensorsMetadata& metadata) const {
  write_checkpoint(folder_ / fmt::format("{}{:012}{}", kPrefix, step, kSuffix), tensors, metadata);
  const std::vector<fs::path> all = files();
  for (std::size_t i = static_cast<std::size_t>(keep_); i < all.size(); ++i) {
    std::error_code ignored;  // a file that cannot go harms nobody
    fs::remove(all[i], ignored);
  }
}

std::vector<fs::path> CheckpointFolder::files() const {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (is_checkpoint_name(entry.path().filename().string())) found.push_back(entry.path());
  }
  // Numbers of one width: names sort as their steps do.
  std::sort(found.begin(), found.end(), std::greater<>());
  return found;
}

std::optional<CheckpointFolder::Found> CheckpointFolder::newest(
    std::vector<ErrorDetails>& damaged) const {
  for (const fs::path& path : files()) {
    try {
      return Found{.path = path, .file = read_checkpoint(path)};
    } catch (const Error& error) {
      damaged.push_back(error.details());
    }
  }
  return std::nullopt;
}

void remove_unfinished_files(const fs::path& folder) {
  std::vector<fs::path> unfinished;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(".stoker-") && name.ends_with(".tmp")) unfinished.push_back(entry.path());
  }
  for (const fs::path& path : unfinished) {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
}

}  // namespace stoker
