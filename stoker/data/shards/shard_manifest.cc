#include "stoker/data/shards/shard_manifest.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/digest.h"
#include "stoker/core/error.h"
#include "stoker/core/permutation.h"
#include "stoker/data/detail/table_text.h"
#include "stoker/data/shards/shard_index.h"

namespace stoker {
namespace {

constexpr std::string_view kDigestWord = "#digest\t";
constexpr std::size_t kHexDigits = 32;

std::string digest_of_text(std::string_view text) {
  return digest_of(std::as_bytes(std::span(text)));
}

bool is_digest(std::string_view text) {
  return text.size() == kHexDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

[[noreturn]] void fail(const std::string& path, std::size_t line, std::string expected) {
  throw Error({.what = "cannot read the manifest of shards",
               .path = path,
               .expected = std::move(expected),
               .found = fmt::format("something else in line {}", line),
               .hint = "It is written by `stoker shard`, and must not be changed by hand."});
}

std::optional<ShardFacts> parse_shard(std::string_view line) {
  const auto fields = detail::fields_of(line);
  if (fields.size() != 6 || !detail::stays_inside(fields[0])) return {};
  const auto samples = detail::number_in<std::uint64_t>(fields[1]);
  const auto bytes = detail::number_in<std::uint64_t>(fields[2]);
  const auto index_bytes = detail::number_in<std::uint64_t>(fields[4]);
  if (!samples || !bytes || !index_bytes || !is_digest(fields[3]) || !is_digest(fields[5])) {
    return {};
  }
  return ShardFacts{std::string(fields[0]), *samples,     *bytes,
                    std::string(fields[3]), *index_bytes, std::string(fields[5])};
}

std::optional<ImageShape> parse_shape(const std::vector<std::string_view>& fields) {
  if (fields.size() != 4) return {};
  const auto height = detail::number_in<int>(fields[1]), width = detail::number_in<int>(fields[2]),
             channels = detail::number_in<int>(fields[3]);
  if (!height || !width || !channels || *height < 1 || *width < 1 || *height > kMaxSide ||
      *width > kMaxSide || (*channels != 1 && *channels != 3)) {
    return {};
  }
  return ImageShape{*height, *width, *channels};
}

// All but its last line, which must be the digest of what comes before.
std::string_view checked_body(std::string_view text, const std::string& path) {
  const std::size_t length = kDigestWord.size() + kHexDigits + 1;
  if (text.size() >= length) {
    const std::string_view body = text.substr(0, text.size() - length);
    if (text.substr(body.size()) == fmt::format("{}{}\n", kDigestWord, digest_of_text(body))) {
      return body;
    }
  }
  throw Error({.what = "the manifest of shards is damaged or cut short",
               .path = path,
               .expected = "a last line with the digest of all others",
               .hint = "Fetch it again, or write the shards again."});
}

void check_sums(const ShardManifest& manifest, const std::string& path) {
  std::uint64_t samples = 0;
  for (const ShardFacts& shard : manifest.shards) {
    if (shard.samples == 0 || shard.samples > Permutation::kMaxSize) {
      fail(path, 1, "between 1 and 2^48 samples in every shard");
    }
    samples += shard.samples;
    if (samples > Permutation::kMaxSize) fail(path, 1, "at most 2^48 samples");
  }
  if (samples == 0) fail(path, 1, "at least one shard");
  if (manifest.shards.size() > std::numeric_limits<std::uint32_t>::max()) {
    fail(path, 1, "at most 2^32 shards");
  }
}

void check_names(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (detail::is_plain_text(name)) continue;
    throw Error({.what = "cannot write a class or column into a manifest",
                 .path = name,
                 .expected = "a name without control characters"});
  }
}

// A set of classes comes first, and no field twice; a weight is one number.
std::optional<FieldInfo> parse_field(std::string_view line, const std::vector<FieldInfo>& before) {
  const auto words = detail::fields_of(line);
  if (words.size() < 3 || !std::ranges::all_of(words, detail::is_plain_text)) return {};
  FieldInfo field{.name = std::string(words[1]), .values = {words.begin() + 2, words.end()}};
  const bool misplaced = field.name == kClassesField && !before.empty();
  const bool wide = field.name == kWeightField && field.values.size() != 1;
  if (field.name.empty() || misplaced || wide || find_field(before, field.name) != nullptr) {
    return {};
  }
  return field;
}

}  // namespace

std::string to_text(const ShardManifest& manifest) {
  std::string text = fmt::format("#stoker-shards\t{}\n", manifest.fields.empty() ? 1 : 2);
  if (!manifest.class_names.empty()) {
    check_names(manifest.class_names);
    text += fmt::format("#classes\t{}\n", fmt::join(manifest.class_names, "\t"));
  }
  if (manifest.shape) {
    text += fmt::format("#shape\t{}\t{}\t{}\n", manifest.shape->height, manifest.shape->width,
                        manifest.shape->channels);
  }
  for (const FieldInfo& field : manifest.fields) {
    check_names(field.values);
    text += fmt::format("#field\t{}\t{}\n", field.name, fmt::join(field.values, "\t"));
  }
  for (const ShardFacts& shard : manifest.shards) {
    fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{}\t{}\t{}\n", shard.name, shard.samples,
                   shard.bytes, shard.digest, shard.index_bytes, shard.index_digest);
  }
  return fmt::format("{0}{1}{2}\n", text, kDigestWord, digest_of_text(text));
}

ShardManifest parse_manifest(std::string_view text, const std::string& path) {
  std::string_view rest = checked_body(text, path);
  const std::string_view head = detail::take_line(rest);
  const bool with_fields = head == "#stoker-shards\t2";
  if (!with_fields && head != "#stoker-shards\t1") fail(path, 1, "#stoker-shards, 1 or 2");
  ShardManifest manifest;
  for (std::size_t line = 2; !rest.empty(); ++line) {
    const std::string_view words = detail::take_line(rest);
    if (words.starts_with("#classes\t") && manifest.class_names.empty()) {
      const auto names = detail::fields_of(words);
      manifest.class_names.assign(names.begin() + 1, names.end());
      if (!std::ranges::all_of(manifest.class_names, detail::is_plain_text)) {
        fail(path, line, "names of classes");
      }
    } else if (words.starts_with("#shape\t")) {
      manifest.shape = parse_shape(detail::fields_of(words));
      if (!manifest.shape) fail(path, line, "height, width and 1 or 3 channels");
    } else if (with_fields && words.starts_with("#field\t")) {
      auto field = parse_field(words, manifest.fields);
      if (!field) fail(path, line, "a field and the names of its numbers");
      manifest.fields.push_back(*std::move(field));
    } else {
      auto shard = parse_shard(words);
      if (!shard) fail(path, line, "name, samples, bytes, digest, and the index's bytes, digest");
      manifest.shards.push_back(*std::move(shard));
    }
  }
  check_sums(manifest, path);
  if (with_fields && manifest.fields.empty()) fail(path, 2, "fields of the samples");
  return manifest;
}

}  // namespace stoker
