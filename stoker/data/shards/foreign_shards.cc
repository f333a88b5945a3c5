#include "stoker/data/shards/foreign_shards.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/atomic_file.h"
#include "stoker/core/cpu_budget.h"
#include "stoker/core/digest.h"
#include "stoker/core/error.h"
#include "stoker/data/detail/each_in_parallel.h"
#include "stoker/data/detail/foreign_fields.h"
#include "stoker/data/detail/table_text.h"
#include "stoker/store/local_store.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxNames = 10'000'000;
constexpr std::int32_t kMaxNumberedClasses = 1'000'000;

[[noreturn]] void fail_pattern(const std::string& pattern, std::string found) {
  throw Error({.what = "cannot understand the pattern of shards",
               .path = pattern,
               .expected = "two numbers in braces, e.g. shard-{000000..000123}.tar",
               .found = std::move(found)});
}

// A shard and what was found in it.
struct Scan {
  ShardFacts facts;
  std::vector<ScannedSample> samples;
};

Scan scan_one(const Store& store, const std::string& name, const ObjectCache& cache,
              const TableColumns& keys) {
  Scan scan;
  std::optional<InputFile> file;
  if (const auto path = store.local_path(name)) {
    file.emplace(*path);
    scan.facts = {.name = name, .bytes = file->size(), .digest = ArchiveBytes(*file).digest()};
  } else {
    FetchedObject fetched = cache.bring_unknown(store, name, {});
    file.emplace(std::move(fetched.file));
    scan.facts = {.name = name, .bytes = fetched.object.bytes, .digest = fetched.object.digest};
  }
  scan.samples = scan_shard(ArchiveBytes(*file), object_path(store, name), keys);
  file->check_unchanged();
  scan.facts.samples = scan.samples.size();
  if (scan.samples.empty()) {
    throw Error({.what = "the shard has no samples", .path = object_path(store, name)});
  }
  return scan;
}

// Every class text that occurs; empty where no sample has one.
std::set<std::string> texts_of(const std::vector<Scan>& scans, const std::string& where) {
  std::set<std::string> texts;
  for (const Scan& scan : scans) {
    for (const ScannedSample& sample : scan.samples) texts.insert(sample.class_text);
  }
  if (texts.size() > 1 && texts.contains("")) {
    throw Error({.what = "some samples of the shards have a class and others none", .path = where});
  }
  texts.erase("");
  return texts;
}

std::optional<std::int32_t> class_number(const std::string& text) {
  const auto number = detail::number_in<std::int32_t>(text);
  if (!number || *number < 0 || *number >= kMaxNumberedClasses) return std::nullopt;
  return number;
}

std::vector<std::string> names_from(const std::set<std::string>& texts) {
  std::vector<std::string> names(texts.begin(), texts.end());
  if (!std::ranges::all_of(texts,
                           [](const auto& text) { return class_number(text).has_value(); })) {
    return names;
  }
  std::int32_t most = -1;
  for (const std::string& text : texts) most = std::max(most, *class_number(text));
  names.clear();
  for (std::int32_t i = 0; i <= most; ++i) names.push_back(std::to_string(i));
  return names;
}

ShardIndex index_of(Scan& scan, const std::vector<std::string>& class_names, bool numbered,
                    const detail::ForeignFields& fields) {
  ShardIndex index{.shard = scan.facts.name, .samples = {}, .fields = FieldRows(fields.fields())};
  for (ScannedSample& sample : scan.samples) {
    if (!class_names.empty()) {
      sample.sample.label =
          numbered
              ? *class_number(sample.class_text)
              : static_cast<std::int32_t>(std::ranges::lower_bound(class_names, sample.class_text) -
                                          class_names.begin());
    }
    fields.add_row(sample.labels, index.fields);
    index.samples.push_back(std::move(sample.sample));
  }
  return index;
}

// Everything but the manifest first: a folder with a manifest is whole.
ShardManifest write_indexes(std::vector<Scan> scans, const std::string& where,
                            const fs::path& folder, const TableColumns& keys) {
  const std::set<std::string> texts = texts_of(scans, where);
  detail::ForeignFields fields(keys);
  for (const Scan& scan : scans) {
    for (const ScannedSample& sample : scan.samples) fields.see(sample.labels);
  }
  fields.finish(where);
  ShardManifest manifest{
      .class_names = names_from(texts), .shape = {}, .shards = {}, .fields = fields.fields()};
  const bool numbered = !texts.empty() && class_number(*texts.begin()).has_value() &&
                        class_number(manifest.class_names.back()).has_value();
  for (Scan& scan : scans) {
    const std::string text = to_text(index_of(scan, manifest.class_names, numbered, fields));
    const fs::path path = folder / index_name(scan.facts.name);
    std::error_code ignored;  // writing tells
    fs::create_directories(path.parent_path(), ignored);
    write_whole_file(path, text, "index of a shard");
    scan.facts.index_bytes = text.size();
    scan.facts.index_digest = digest_of(std::as_bytes(std::span(text)));
    manifest.shards.push_back(std::move(scan.facts));
  }
  write_whole_file(folder / kManifestName, to_text(manifest), "manifest of shards");
  return manifest;
}

std::string key_of(const Store& store, const std::vector<std::string>& names,
                   const TableColumns& keys) {
  constexpr int kAtOnce = 8;  // a remote store takes its time for each
  std::vector<std::string> lines(names.size());
  detail::each_in_parallel(names.size(), kAtOnce, [&](std::size_t i) {
    const auto facts = store.look(names[i]);
    if (!facts) {
      throw Error({.what = "cannot find the shard", .path = object_path(store, names[i])});
    }
    lines[i] = fmt::format("{}\t{}\t{}", names[i], facts->bytes, facts->version);
  });
  Digest key;
  key.add_text(store.where());
  for (const std::string& line : lines) key.add_text(line);
  if (detail::names_keys(keys)) {
    key.add_text(fmt::format("{}\n{}", keys.label, keys.weight));
    for (const auto* list : {&keys.labels, &keys.targets}) {
      key.add_text(fmt::format("{}", list->size()));
      for (const std::string& name : *list) key.add_text(name);
    }
  }
  return key.hex();
}

}  // namespace

std::shared_ptr<const ShardSet> open_foreign_shards(std::shared_ptr<const Store> store,
                                                    const std::vector<std::string>& names,
                                                    const ShardOptions& options,
                                                    const TableColumns& keys) {
  auto cache = open_object_cache(options);
  const fs::path folder = cache->folder() / ("foreign-" + key_of(*store, names, keys));
  auto indexes = std::make_shared<LocalStore>(folder);
  if (indexes->look(kManifestName)) {
    return std::make_shared<ShardSet>(
        parse_manifest(read_text(*indexes, kManifestName, std::uint64_t{4} << 30), folder.string()),
        std::move(store), indexes, cache);
  }
  std::vector<Scan> scans(names.size());
  detail::each_in_parallel(names.size(), default_workers(cpu_budget()), [&](std::size_t i) {
    scans[i] = scan_one(*store, names[i], *cache, keys);
  });
  std::error_code ignored;  // writing tells
  fs::create_directories(folder, ignored);
  ShardManifest manifest = write_indexes(std::move(scans), store->where(), folder, keys);
  return std::make_shared<ShardSet>(std::move(manifest), std::move(store), indexes, cache);
}

std::vector<std::string> expand_braces(const std::string& pattern) {
  const std::size_t open = pattern.find('{');
  if (open == std::string::npos) return {pattern};
  const std::size_t close = pattern.find('}', open), dots = pattern.find("..", open);
  if (close == std::string::npos || dots == std::string::npos || dots > close) {
    fail_pattern(pattern, "braces without a range");
  }
  const std::string first = pattern.substr(open + 1, dots - open - 1);
  const auto low = detail::number_in<std::uint64_t>(first);
  const auto high = detail::number_in<std::uint64_t>(pattern.substr(dots + 2, close - dots - 2));
  if (!low || !high || *high < *low) fail_pattern(pattern, "a range that is none");
  const std::vector<std::string> rest = expand_braces(pattern.substr(close + 1));
  if (*high - *low >= kMaxNames || (*high - *low + 1) * rest.size() > kMaxNames) {
    fail_pattern(pattern, "more than ten million names");
  }
  std::vector<std::string> names;
  for (std::uint64_t number = *low; number <= *high; ++number) {
    const std::string head = fmt::format("{}{:0{}}", pattern.substr(0, open), number, first.size());
    for (const std::string& tail : rest) names.push_back(head + tail);
  }
  return names;
}

}  // namespace stoker
