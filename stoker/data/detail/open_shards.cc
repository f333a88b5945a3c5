#include "stoker/data/detail/open_shards.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/data/detail/missing_part.h"
#include "stoker/data/shards/foreign_shards.h"
#include "stoker/data/shards/shard_source.h"
#include "stoker/store/open_store.h"

namespace stoker::detail {
namespace {

namespace fs = std::filesystem;

bool has_braces(const std::string& text) {
  std::error_code ignored;
  const std::size_t open = text.find('{');
  return open != std::string::npos && text.find("..", open) != std::string::npos &&
         !fs::exists(text, ignored);
}

bool holds_shards(const fs::path& folder) {
  std::error_code error;
  if (fs::is_regular_file(folder / kManifestName, error)) return true;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".tar") return true;
  }
  return false;
}

// Of a store that can tell.
std::vector<std::string> tars_in(const std::string& folder, const DataOptions& options) {
  if (folder.starts_with("http")) return {};
  std::vector<std::string> names = open_store(folder, options.shards.store)->list();
  std::erase_if(names, [](const std::string& name) { return !name.ends_with(".tar"); });
  return names;
}

// "a/b" and "c.tar" of "a/b/c.tar"
std::pair<std::string, std::string> cut_name(const std::string& text) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string::npos) return {".", text};
  return {slash == 0 ? "/" : text.substr(0, slash), text.substr(slash + 1)};
}

std::string without_slashes(std::string text) {
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

bool has_manifest(const std::string& folder, const DataOptions& options) {
  return open_store(folder, options.shards.store)->look(kManifestName).has_value();
}

// The folder or prefix whose shards are meant; a list of names where they have no manifest.
struct Location {
  std::string folder;
  std::vector<std::string> foreign = {};
};

Location whole(const std::string& folder, const DataOptions& options) {
  if (has_manifest(folder, options)) return {.folder = folder};
  if (auto names = tars_in(folder, options); !names.empty()) return {folder, std::move(names)};
  throw Error({.what = "cannot find shards",
               .path = folder,
               .expected = std::string(kManifestName) + " there, or in train and val below it",
               .hint = "`stoker shard` writes one; shards of others are named by a pattern: "
                       "PREFIX/shard-{000000..000123}.tar"});
}

// The root's own shards, or the one set that a text names.
bool names_one_set(const std::string& text) {
  const std::string name = cut_name(text).second;
  return name == kManifestName || has_braces(text) || name.ends_with(".tar");
}

bool is_part_there(const std::string& root, Split split, const DataOptions& options) {
  const std::string part = fmt::format("{}/{}", root, name_of(split));
  return is_url(root) ? has_manifest(part, options) : holds_shards(part);
}

bool has_own_shards(const std::string& root, const DataOptions& options) {
  return is_url(root) ? has_manifest(root, options) : holds_shards(root);
}

// Whether the root has train/ instead of shards of its own.
bool is_divided(const std::string& root, const DataOptions& options) {
  return !has_own_shards(root, options) && is_part_there(root, Split::kTrain, options);
}

// The manifest of a URL is not looked for twice: each look takes a connection and a round trip.
Location seen(const std::string& folder, const DataOptions& options) {
  return is_url(folder) ? Location{.folder = folder} : whole(folder, options);
}

Location find_location(const std::string& text, Split split, const DataOptions& options) {
  const std::string root = without_slashes(text);
  const bool own = names_one_set(text) || has_own_shards(root, options);
  if (!own && is_part_there(root, Split::kTrain, options)) {
    if (split != Split::kTrain && !is_part_there(root, split, options)) {
      fail_missing_part(text, split, shard_parts(text, options));
    }
    return seen(fmt::format("{}/{}", root, name_of(split)), options);
  }
  if (split != Split::kTrain) fail_missing_part(text, split, {});
  if (!own) return whole(root, options);
  if (!names_one_set(text)) return seen(root, options);
  const auto [folder, name] = cut_name(text);
  if (name == kManifestName) return {.folder = folder};
  return {folder, expand_braces(name)};
}

// Fields of shards with a manifest were chosen when they were written.
void check_fields(const ShardManifest& manifest, const TableColumns& asked,
                  const std::string& text) {
  const FieldInfo* targets = find_field(manifest.fields, kTargetField);
  const bool has_set = find_field(manifest.fields, kClassesField) != nullptr;
  const bool fits =
      (asked.label.empty() || !manifest.class_names.empty()) && (asked.labels.empty() || has_set) &&
      (asked.targets.empty() || (targets != nullptr && targets->values == asked.targets));
  if (fits) return;
  const std::string numbers =
      targets == nullptr ? "" : fmt::format("the numbers {}", fmt::join(targets->values, ", "));
  throw Error({.what = "the shards have other labels than those that are asked for",
               .path = text,
               .expected = !asked.targets.empty()
                               ? fmt::format("the numbers {}", fmt::join(asked.targets, ", "))
                           : asked.label.empty() ? "several classes for each sample"
                                                 : "one class for each sample",
               .found = targets != nullptr             ? numbers
                        : has_set                      ? "several classes for each sample"
                        : manifest.class_names.empty() ? "samples without labels"
                                                       : "one class for each sample",
               .hint = "Labels of shards are chosen when `stoker shard` writes them."});
}

}  // namespace

bool names_shards(const std::string& text) {
  if (is_url(text) || has_braces(text) || text.ends_with(".tar")) return true;
  std::error_code ignored;
  const fs::path path(text);
  if (path.filename() == kManifestName) return true;
  return fs::is_directory(path, ignored) && (holds_shards(path) || holds_shards(path / "train"));
}

DataParts shard_parts(const std::string& text, const DataOptions& options) {
  const std::string root = without_slashes(text);
  if (names_one_set(text) || !is_divided(root, options)) return {};
  return {.validation = is_part_there(root, Split::kValidation, options),
          .test = is_part_there(root, Split::kTest, options)};
}

std::shared_ptr<const Source> open_shards(const std::string& text, Split split,
                                          const DataOptions& options) {
  const Location location = find_location(text, split, options);
  auto shards = location.foreign.empty()
                    ? open_shard_set(location.folder, options.shards)
                    : open_foreign_shards(open_store(location.folder, options.shards.store),
                                          location.foreign, options.shards, options.table);
  if (location.foreign.empty() && options.needs_labels) {
    check_fields(shards->manifest(), options.table, text);
  }
  return std::make_shared<ShardSource>(std::move(shards), options.images, options.shards);
}

}  // namespace stoker::detail
