#include "stoker/data/catalog.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <initializer_list>
#include <numeric>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/environment.h"
#include "stoker/core/error.h"
#include "stoker/core/input_file.h"
#include "stoker/core/invariant.h"
#include "stoker/core/suggest.h"
#include "stoker/data/detail/missing_part.h"
#include "stoker/data/detail/open_expression.h"
#include "stoker/data/detail/open_images.h"
#include "stoker/data/detail/open_shards.h"
#include "stoker/data/sources/idx.h"
#include "stoker/data/sources/listing_cache.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::initializer_list<Split> kSplits = {Split::kTrain, Split::kValidation, Split::kTest};

struct KnownData {
  const char* name;
  std::vector<std::string> class_names;
  const char* how_to_get;
};

const std::vector<KnownData>& known_data() {
  static const std::vector<KnownData> known = {
      {"mnist", {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, ""},
      {"fashion-mnist",
       {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag",
        "Ankle boot"},
       "On Debian: apt install dataset-fashion-mnist. "},
  };
  return known;
}

constexpr DataParts kKnownParts{.validation = false, .test = true};

const KnownData* find_known(const std::string& name) {
  const auto& known = known_data();
  const auto found =
      std::ranges::find_if(known, [&](const auto& data) { return data.name == name; });
  return found == known.end() ? nullptr : &*found;
}

// The file names of a split, without .gz.
struct SplitFiles {
  std::string images, labels;
};

SplitFiles files_of(Split split) {
  const std::string prefix = split == Split::kTest ? "t10k" : name_of(split);
  return {prefix + "-images-idx3-ubyte", prefix + "-labels-idx1-ubyte"};
}

std::vector<std::string> names_of(std::initializer_list<Split> splits) {
  std::vector<std::string> names;
  for (const Split split : splits) {
    const SplitFiles files = files_of(split);
    names.push_back(files.images);
    names.push_back(files.labels);
  }
  return names;
}

// The plain file or the packed one; nullopt where neither is there.
std::optional<fs::path> find_file(const fs::path& folder, const std::string& name) {
  for (const char* suffix : {"", ".gz"}) {
    std::error_code ignored;  // what cannot be examined is not there
    fs::path path = folder / (name + suffix);
    if (fs::is_regular_file(path, ignored)) return path;
  }
  return std::nullopt;
}

std::vector<std::string> missing_files(const fs::path& folder,
                                       const std::vector<std::string>& names) {
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    if (!find_file(folder, name)) missing.push_back(name);
  }
  return missing;
}

std::string_view without_carriage_return(std::string_view line) {
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

[[noreturn]] void fail_class_names(const fs::path& path, std::uint64_t offset, std::string found) {
  throw Error({.what = "cannot read class names",
               .path = path.string(),
               .offset = offset,
               .expected = "between 1 and 256 different names, one per line",
               .found = std::move(found),
               .hint = "Correct the file, or remove it to use the labels' numbers."});
}

// One name per line; the end of the last line may be missing.
std::vector<std::string> read_class_names(const fs::path& path) {
  const FileBytes file(path);
  const std::string_view text = file.text();
  std::string_view rest = text;
  std::vector<std::string> names;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string name(without_carriage_return(rest.substr(0, end)));
    if (name.empty() || std::ranges::find(names, name) != names.end() || names.size() == 256) {
      fail_class_names(path, text.size() - rest.size(),
                       fmt::format("\"{}\" in line {}", name, names.size() + 1));
    }
    names.push_back(std::move(name));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (names.empty()) fail_class_names(path, 0, "none");
  return names;
}

// The last part of the path: "mnist" for "data/mnist/" and for "." inside it.
std::string folder_name(const fs::path& folder) {
  std::error_code error;
  fs::path whole = fs::absolute(folder, error).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  return whole.filename().string();
}

std::vector<std::string> class_names_for(const fs::path& folder) {
  const fs::path listed = folder / "classes.txt";
  std::error_code ignored;
  if (fs::exists(listed, ignored)) return read_class_names(listed);
  if (const KnownData* known = find_known(folder_name(folder))) return known->class_names;
  std::vector<std::string> names;
  for (const Split split : kSplits) {
    const auto labels = find_file(folder, files_of(split).labels);
    if (!labels) continue;
    auto numbers = numbered_class_names(read_idx(*labels));
    if (numbers.size() > names.size()) names = std::move(numbers);
  }
  return names;
}

// All files are known to be there.
std::shared_ptr<const Source> open_folder(const fs::path& folder, Split split) {
  const SplitFiles files = files_of(split);
  const auto images = find_file(folder, files.images), labels = find_file(folder, files.labels);
  STOKER_INVARIANT(images && labels, "folder={}", folder.string());
  return open_idx(*images, *labels, class_names_for(folder));
}

// A place to look at, and what is said of it when nothing was found there.
struct Candidate {
  std::string shown;  // "$STOKER_DATA/mnist"
  fs::path folder;    // empty where the variable is not set
};

std::vector<Candidate> candidates(const std::string& name, const DataPlaces& places) {
  const auto variable = [&](const char* key) {
    return places.environment(key).value_or("");  // set to nothing counts as not set
  };
  std::vector<Candidate> result;
  for (const char* key : {"STOKER_DATA", "STOKER_TEST_DATA"}) {
    const std::string value = variable(key);
    result.push_back(
        {fmt::format("${}/{}", key, name), value.empty() ? fs::path() : value / fs::path(name)});
  }
  const fs::path cache = user_cache_folder(places.environment);
  result.push_back({fmt::format("cache folder/stoker/{}", name),
                    cache.empty() ? fs::path() : cache / "stoker" / name});
  result.push_back({"system's folder", places.system_folder / name});
  return result;
}

// "$STOKER_DATA/mnist = /data/mnist (lacks …)"
std::string verdict(const Candidate& candidate, const std::vector<std::string>& needed) {
  if (candidate.folder.empty()) return candidate.shown + " (not set)";
  std::error_code error;
  const fs::file_status status = fs::status(candidate.folder, error);
  const std::string where = fmt::format("{} = {}", candidate.shown, candidate.folder.string());
  if (status.type() == fs::file_type::not_found) return where + " (no such folder)";
  if (error) return fmt::format("{} ({})", where, error.message());
  if (status.type() != fs::file_type::directory) return where + " (not a folder)";
  return fmt::format("{} (lacks {})", where,
                     fmt::join(missing_files(candidate.folder, needed), ", "));
}

std::shared_ptr<const Source> open_known(const KnownData& known, Split split,
                                         const DataPlaces& places) {
  if (split == Split::kValidation) detail::fail_missing_part(known.name, split, kKnownParts);
  const auto needed = names_of({Split::kTrain, Split::kTest});
  std::string looked_at;
  for (const Candidate& candidate : candidates(known.name, places)) {
    if (!candidate.folder.empty() && missing_files(candidate.folder, needed).empty()) {
      return open_folder(candidate.folder, split);
    }
    looked_at += "\n  " + verdict(candidate, needed);
  }
  throw Error(
      {.what = fmt::format("cannot find the dataset {}", known.name),
       .expected = fmt::format("{} in one folder, each plain or with .gz", fmt::join(needed, ", ")),
       .found = "no folder with all of them; looked at:" + looked_at,
       .hint = fmt::format("{}Put the files under $STOKER_DATA/{}, or give the path of the "
                           "folder that holds them.",
                           known.how_to_get, known.name)});
}

[[noreturn]] void fail_unknown(const std::string& name_or_path) {
  const bool could_be_name = fs::path(name_or_path).filename() == name_or_path;
  const std::string meant = could_be_name ? did_you_mean(name_or_path, known_data_names()) : "";
  throw Error({.what = "cannot find data",
               .path = name_or_path,
               .expected = fmt::format("a path, or one of the names {}",
                                       fmt::join(known_data_names(), ", ")),
               .found = "neither",
               .hint = meant.empty() ? "Check the path." : meant});
}

void check_is_there(const std::string& text) {
  std::error_code error;
  if (fs::status(text, error).type() == fs::file_type::not_found) fail_unknown(text);
}

bool has_all_files(const fs::path& folder, Split split) {
  return missing_files(folder, names_of({split})).empty();
}

bool holds_idx(const fs::path& folder) {
  const auto every = names_of(kSplits);
  return missing_files(folder, every).size() < every.size();
}

DataParts idx_parts(const fs::path& folder) {
  return {.validation = has_all_files(folder, Split::kValidation),
          .test = has_all_files(folder, Split::kTest)};
}

std::shared_ptr<const Source> open_path(const std::string& text, Split split,
                                        const DataOptions& options) {
  if (detail::names_shards(text)) return detail::open_shards(text, split, options);
  const fs::path path(text);
  check_is_there(text);
  if (!holds_idx(path)) {
    return detail::open_images(path, split, options,
                               listing_cache_folder(options.places.environment));
  }
  const auto needed = names_of({split});
  const auto missing = missing_files(path, needed);
  if (missing.empty()) return open_folder(path, split);
  if (split == Split::kValidation && missing.size() == needed.size()) {
    detail::fail_missing_part(text, split, idx_parts(path));
  }
  throw Error({.what = "cannot open data",
               .path = text,
               .expected = fmt::format("the files {}, each also with .gz", fmt::join(needed, ", ")),
               .found = fmt::format("a folder without {}", fmt::join(missing, ", ")),
               .hint = "Put the missing files there, or name another folder."});
}

}  // namespace

DataPlaces system_data_places() {
  return {.environment = environment_variable, .system_folder = "/usr/share/datasets"};
}

std::vector<std::string> known_data_names() {
  std::vector<std::string> names;
  for (const KnownData& data : known_data()) names.emplace_back(data.name);
  return names;
}

std::shared_ptr<const Source> open_data(const std::string& name_or_path, Split split,
                                        const DataOptions& options) {
  if (const auto terms = detail::expression_terms(name_or_path); !terms.empty()) {
    return detail::open_terms(terms, split, options);
  }
  const KnownData* known = find_known(name_or_path);
  if (known != nullptr) return open_known(*known, split, options.places);
  return open_path(name_or_path, split, options);
}

DataParts find_data_parts(const std::string& name_or_path, const DataOptions& options) {
  if (const auto terms = detail::expression_terms(name_or_path); !terms.empty()) {
    return detail::terms_parts(terms, options);
  }
  if (find_known(name_or_path) != nullptr) return kKnownParts;
  if (detail::names_shards(name_or_path)) return detail::shard_parts(name_or_path, options);
  check_is_there(name_or_path);
  return holds_idx(name_or_path) ? idx_parts(name_or_path)
                                 : detail::image_parts(name_or_path, options.table);
}

Split evaluation_split(const DataParts& parts) noexcept {
  if (parts.test) return Split::kTest;
  return parts.validation ? Split::kValidation : Split::kTrain;
}

const char* name_of(Split split) {
  if (split == Split::kTrain) return "train";
  return split == Split::kValidation ? "val" : "test";
}

std::vector<std::string> split_names() {
  std::vector<std::string> names;
  for (const Split split : kSplits) names.emplace_back(name_of(split));
  return names;
}

Split parse_split(const std::string& text) {
  return *(kSplits.begin() + place_of_name(text, split_names(), "part of the data"));
}

}  // namespace stoker
