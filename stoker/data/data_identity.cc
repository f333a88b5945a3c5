#include "stoker/data/data_identity.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

#include "stoker/core/digest.h"
#include "stoker/core/input_file.h"
#include "stoker/data/detail/each_in_parallel.h"
#include "stoker/data/detail/identity_lines.h"
#include "stoker/data/shards/shard_source.h"
#include "stoker/data/sources/file_sizes.h"
#include "stoker/data/sources/folder_source.h"
#include "stoker/data/sources/idx.h"
#include "stoker/data/sources/source_view.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using detail::escape_field;

// Behind all views.
const Source& origin_of(const Source& source) {
  const Source* at = &source;
  while (const auto* view = dynamic_cast<const SourceView*>(at)) at = &view->source();
  return *at;
}

// The part before this one that views the same source; null where there is none.
const DataPart* earlier_part(std::span<const DataPart> parts, std::size_t place) {
  const Source* origin = &origin_of(*parts[place].source);
  for (const DataPart& part : parts.first(place)) {
    if (&origin_of(*part.source) == origin) return &part;
  }
  return nullptr;
}

std::uint64_t content_bytes(const Source& source, const IdentityOptions& options) {
  if (const auto* idx = dynamic_cast<const IdxSource*>(&source)) {
    return idx->images().header.value_bytes + idx->labels().header.value_bytes;
  }
  std::uint64_t sum = 0;
  if (const auto* folder = dynamic_cast<const FolderSource*>(&source)) {
    const ImageListing& listing = folder->listing();
    // What is not asked for its size is not read either.
    if (!listing.table.empty() && listing.images.size() > options.looked_at) {
      return std::numeric_limits<std::uint64_t>::max() / 2;
    }
    for (const std::uint64_t bytes : file_sizes(listing, options.threads)) sum += bytes;
  }
  return sum;
}

// Where images or shards lie; "" for what has no names of its own there.
std::string location_of(const Source& source) {
  if (const auto* folder = dynamic_cast<const FolderSource*>(&source)) {
    fs::path root = fs::absolute(folder->listing().root).lexically_normal();
    return (root.has_filename() ? root : root.parent_path()).string();
  }
  const auto* shards = dynamic_cast<const ShardSource*>(&source);
  return shards == nullptr ? "" : shards->where();
}

// What stands before the names of each part, so that train/ant/1.png and val/ant/1.png are two:
// the way from the folder above all of them. Nothing where they lie in the same folder.
std::vector<std::string> prefixes_of(std::span<const DataPart> parts) {
  std::vector<std::string> prefixes;
  std::optional<std::string> common;
  for (const DataPart& part : parts) {
    prefixes.push_back(location_of(origin_of(*part.source)));
    if (prefixes.back().empty()) continue;
    prefixes.back() += '/';
    if (!common) common = prefixes.back();
    const auto end = std::ranges::mismatch(*common, prefixes.back()).in1;
    common->erase(end, common->end());
    common->erase(common->rfind('/') + 1);
  }
  for (std::string& prefix : prefixes) {
    if (!prefix.empty()) prefix.erase(0, common->size());
  }
  return prefixes;
}

// Nothing where it is no regular file that can be read.
std::optional<std::vector<std::byte>> read_content(const std::string& path) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
  auto file = InputFile::open(path);
  if (!file || file->size() > kMost) return std::nullopt;
  std::vector<std::byte> bytes(file->size());
  if (!file->read(0, bytes)) return std::nullopt;
  return bytes;
}

struct ImageState {
  std::uint64_t bytes = 0;
  std::uint64_t digest = 0;
  bool readable = true;
};

void look_at(const std::string& path, bool with_content, ImageState& state) {
  if (!with_content) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0)
      state.bytes = static_cast<std::uint64_t>(status.st_size);
    return;
  }
  const auto bytes = read_content(path);
  state.readable = bytes.has_value();
  if (!bytes) return;
  state.bytes = bytes->size();
  state.digest = digest64(*bytes);
}

// Nothing where samples have no fields.
std::string numbers_text(const FieldRows& fields, std::size_t row) {
  if (fields.fields().empty()) return "";
  const std::uint64_t classes = digest64(std::as_bytes(fields.classes(row)));
  const std::uint64_t numbers = digest64(std::as_bytes(fields.numbers(row)));
  return fmt::format("\t{:016x}", classes + 3 * numbers);
}

void add_images(std::string& text, const ImageListing& listing, const std::string& prefix,
                bool with_content, const IdentityOptions& options) {
  std::vector<ImageState> states(listing.images.size());
  for (std::size_t i = 0; i < states.size(); ++i) states[i].bytes = listing.images[i].bytes;
  const std::size_t distance =
      with_content ? 1 : (states.size() + options.looked_at - 1) / options.looked_at;
  if (distance <= 1 || !listing.table.empty()) {
    const std::size_t count = distance == 0 ? 0 : (states.size() + distance - 1) / distance;
    detail::each_in_parallel(count, options.threads, [&](std::size_t k) {
      const std::size_t i = k * distance;
      look_at((listing.root / listing.images[i].path).string(), with_content, states[i]);
    });
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    const ListedImage& image = listing.images[i];
    const std::string digest = !with_content         ? "-"
                               : !states[i].readable ? "!"
                                                     : fmt::format("{:016x}", states[i].digest);
    text += fmt::format("image\t{}\t{}\t{}\t{}{}\n", escape_field(prefix + image.path),
                        states[i].bytes, image.label, digest, numbers_text(listing.fields, i));
  }
}

// Packed or not, the same array.
std::string array_name(const IdxArray& array) {
  const fs::path name = fs::path(array.name).filename();
  return (name.extension() == ".gz" ? name.stem() : name).string();
}

void add_array(std::string& text, const IdxArray& array, bool with_content) {
  text += fmt::format("array\t{}\t{}\t{}\t{}\n", escape_field(array_name(array)),
                      array.header.value_bytes, array.header.count,
                      with_content ? fmt::format("{:016x}", digest_of_values(array)) : "-");
}

void add_shards(std::string& text, const ShardManifest& manifest, const std::string& prefix) {
  for (const ShardFacts& shard : manifest.shards) {
    text += fmt::format("shard\t{}\t{}\t{}\t{}\n", escape_field(prefix + shard.name), shard.bytes,
                        shard.samples, shard.digest.empty() ? "-" : shard.digest);
  }
}

void add_names(std::string& text, const Source& source) {
  constexpr std::uint64_t kMost = 1'000'000;  // more are told by their number alone
  if (source.size() > kMost) return;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    text += fmt::format("sample\t{}\n", escape_field(source.sample_name(i)));
  }
}

void add_source(std::string& text, const Source& source, const std::string& prefix,
                bool with_content, const IdentityOptions& options) {
  if (const auto* folder = dynamic_cast<const FolderSource*>(&source)) {
    add_images(text, folder->listing(), prefix, with_content, options);
  } else if (const auto* shards = dynamic_cast<const ShardSource*>(&source)) {
    add_shards(text, shards->manifest(), prefix);
  } else if (const auto* idx = dynamic_cast<const IdxSource*>(&source)) {
    add_array(text, idx->images(), with_content);
    add_array(text, idx->labels(), true);  // a byte a sample
  } else {
    add_names(text, source);
  }
}

}  // namespace

std::string DataIdentity::digest() const {
  Digest digest;
  digest.add_text(text_);
  return digest.hex();
}

DataIdentity identity_of(std::span<const DataPart> parts, const IdentityOptions& options) {
  return identity_of(parts, content_is_cheap(parts, options), options);
}

bool content_is_cheap(std::span<const DataPart> parts, const IdentityOptions& options) {
  std::uint64_t sum = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (earlier_part(parts, p) == nullptr)
      sum += content_bytes(origin_of(*parts[p].source), options);
  }
  return sum <= options.content_bytes;
}

DataIdentity identity_of(std::span<const DataPart> parts, bool with_content,
                         const IdentityOptions& options) {
  std::string text = fmt::format("stoker-data\t1\t{}\n", with_content ? "content" : "listing");
  const std::vector<std::string> prefixes = prefixes_of(parts);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const DataPart& part = parts[p];
    text += fmt::format("part\t{}\n", escape_field(part.name));
    const std::vector<std::string>& names = part.source->class_names();
    for (std::size_t i = 0; i < names.size(); ++i) {
      text += fmt::format("class\t{}\t{}\n", i, escape_field(names[i]));
    }
    for (const FieldInfo& field : part.source->fields()) {
      for (const std::string& value : field.values) {
        text += fmt::format("field\t{}\t{}\n", escape_field(field.name), escape_field(value));
      }
    }
    if (const DataPart* same = earlier_part(parts, p)) {
      text += fmt::format("as\t{}\n", escape_field(same->name));
    } else {
      add_source(text, origin_of(*part.source), prefixes[p], with_content, options);
    }
    text += fmt::format("samples\t{}\n", part.source->size());
  }
  return DataIdentity(std::move(text));
}

}  // namespace stoker
