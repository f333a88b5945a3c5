#include "stoker/data/sources/image_folder.h"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/data/detail/folder_walk.h"
#include "stoker/data/detail/letters.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

// The part that a folder's name stands for; null where it stands for none.
fs::path* part_named(const std::string& name, DatasetFolders& parts) {
  if (name == "train") return &parts.train;
  if (name == "val" || name == "valid" || name == "validation") return &parts.validation;
  return name == "test" ? &parts.test : nullptr;
}

bool holds_folders(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (!at->path().filename().string().starts_with('.') && at->is_directory(ignored)) return true;
  }
  return false;
}

void set_part(fs::path& part, const fs::path& folder) {
  if (!part.empty()) {
    throw Error({.what = "two folders could be the same part of a dataset",
                 .path = folder.parent_path().string(),
                 .found = fmt::format("{} and {}", std::min(part, folder).filename().string(),
                                      std::max(part, folder).filename().string()),
                 .hint = "Rename or remove one of them."});
  }
  part = folder;
}

DatasetFolders named_parts(const fs::path& root) {
  DatasetFolders parts;
  std::error_code error;
  // What cannot be read has no parts; whoever lists it says why.
  for (fs::directory_iterator at(root, error), end; !error && at != end; at.increment(error)) {
    fs::path* part = part_named(detail::lower_case(at->path().filename().string()), parts);
    std::error_code ignored;
    if (part != nullptr && at->is_directory(ignored)) set_part(*part, at->path());
  }
  return parts;
}

}  // namespace

ImageListing without_images(const ImageListing& whole) {
  const std::span<const FieldInfo> fields = whole.fields.fields();
  return {.root = whole.root,
          .class_names = whole.class_names,
          .images = {},
          .ignored = {},
          .table = whole.table,
          .fields = FieldRows({fields.begin(), fields.end()})};
}

void add_image(ImageListing& part, const ImageListing& whole, std::size_t place) {
  part.images.push_back(whole.images.at(place));
  part.fields.add_row(whole.fields, place);
}

bool has_image_extension(std::string_view name) {
  constexpr auto kExtensions = std::to_array<std::string_view>(
      {".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff", ".bmp", ".pbm", ".pgm", ".ppm", ".pnm"});
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || name.size() - dot > 5) return false;
  return std::ranges::find(kExtensions, detail::lower_case(name.substr(dot))) != kExtensions.end();
}

ImageListing list_images(const fs::path& root, EmptyClasses empty) {
  return std::move(detail::walk_images(root, empty).listing);
}

DatasetFolders find_parts(const fs::path& root) {
  DatasetFolders parts = named_parts(root);
  const bool alone = parts.validation.empty() && parts.test.empty();
  const bool has_parts = !parts.train.empty() && (!alone || holds_folders(parts.train));
  if (has_parts) return parts;
  return {.train = root, .validation = {}, .test = {}};
}

}  // namespace stoker
