#include "stoker/data/data_settings.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/data/catalog.h"
#include "stoker/data/detail/delimited_table.h"

namespace stoker {
namespace {

constexpr int kMostPages = 65'535;  // libtiff reads no more
constexpr SettingRange kManyShards{1, 1 << 20};

SettingText text_of(std::optional<std::filesystem::path>& folder) {
  return {.read = [&folder] { return folder ? folder->string() : ""; },
          .write =
              [&folder](const std::string& text) {
                if (text.empty()) {
                  folder.reset();
                } else {
                  folder = text;
                }
              }};
}

SettingText text_of(std::chrono::seconds& time, SettingRange range) {
  return {.read = [&time] { return fmt::format("{}", time.count()); },
          .write =
              [&time, range](const std::string& text) {
                int seconds = 0;
                set_texts({.name = "", .help = "", .place = &seconds, .range = range}, {text});
                time = std::chrono::seconds(seconds);
              },
          .type = fmt::format("whole number from {} to {}", range.least, range.most)};
}

// Names with commas between them; one that holds a comma stands in quotes, as in a table.
SettingText text_of(std::vector<std::string>& names) {
  return {.read =
              [&names] {
                std::string text;
                for (const std::string& name : names) {
                  text += (text.empty() ? "" : ",") + detail::as_cell(name);
                }
                return text;
              },
          .write = [&names](const std::string& text) { names = detail::cells_of(text); }};
}

}  // namespace

std::string data_help() {
  return fmt::format(
      "dataset: a name ({}), a folder with its files, a folder with one folder per class, a table "
      "(.csv, .tsv) or list of images, or shards (folder, s3:// or https:// URL, manifest.tsv, "
      "shard-{{000000..000123}}.tar)",
      fmt::join(known_data_names(), ", "));
}

std::vector<Setting> settings_of(DecodeLimits& limits) {
  return {{.name = "max-pixels",
           .help = "reject images with more pixels",
           .place = &limits.max_pixels,
           .range = SettingRange{1, 0x1p40}}};
}

std::vector<Setting> file_settings_of(FolderOptions& images) {
  std::vector<Setting> all = settings_of(images.limits);
  append_settings(all, "",
                  {{.name = "page",
                    .help = "page of a TIFF file with several, counted from 0",
                    .place = &images.page,
                    .range = SettingRange{0, kMostPages - 1}}});
  return all;
}

std::vector<Setting> settings_of(FolderOptions& images) {
  std::vector<Setting> all = file_settings_of(images);
  append_settings(
      all, "",
      {{.name = "channels",
        .help = "channels of images in files: 1 (grey), 3 (RGB) or 4 (RGBA)",
        .place = &images.channels,
        .choices = {"1", "3", "4"}},
       {.name = "depth",
        .help = "bits of a value of images in files; 16 keeps those of 16-bit PNG, TIFF and PNM",
        .place = &images.depth,
        .choices = {"8", "16"}},
       {.name = "window",
        .help = "with --depth 16: LOW,HIGH, the values that become 0 and 1, or image: each image's "
                "smallest and largest",
        .place = SettingText{
            .read = [&images] { return window_text(images.window); },
            .write = [&images](const std::string& text) { images.window = parse_window(text); }}}});
  return all;
}

std::string window_text(const std::optional<ValueWindow>& window) {
  if (!window) return "";
  return window->of_image ? "image" : fmt::format("{},{}", window->low, window->high);
}

std::optional<ValueWindow> parse_window(const std::string& text) {
  if (text.empty()) return std::nullopt;
  if (text == "image") return ValueWindow{.of_image = true};
  ValueWindow window;
  const char* end = text.data() + text.size();
  const auto low = std::from_chars(text.data(), end, window.low);
  if (low.ec == std::errc{} && low.ptr != end && *low.ptr == ',') {
    const auto high = std::from_chars(low.ptr + 1, end, window.high);
    const bool in_order = window.low >= 0 && window.low < window.high && window.high <= 65535;
    if (high.ec == std::errc{} && high.ptr == end && in_order) return window;
  }
  refuse_value("LOW,HIGH from 0 to 65535, in this order, or image", fmt::format("\"{}\"", text));
}

std::vector<Setting> settings_of(ShardOptions& options) {
  constexpr SettingScope kRun = SettingScope::kRun;
  return {{.name = "shuffle-window",
           .help = "shards: number of shards whose samples are mixed",
           .place = &options.window,
           .range = kManyShards},
          {.name = "shuffle-lanes",
           .help = "shards: number of lanes; with a multiple of the number of ranks, each rank "
                   "reads its own shards",
           .place = &options.lanes,
           .range = kManyShards},
          {.name = "cache-dir",
           .help = "remote shards: cache folder (not given: the user's cache folder)",
           .place = text_of(options.cache_folder),
           .scope = kRun},
          {.name = "cache-size",
           .help = "remote shards: size of the cache, e.g. 200GB",
           .place = SettingText{
               .read = [&options] { return bytes_text(options.cache_bytes); },
               .write = [&options](
                            const std::string& text) { options.cache_bytes = parse_bytes(text); }},
           .scope = kRun},
          {.name = "store-tries",
           .help = "remote shards: download attempts per object",
           .place = &options.store.retry.tries,
           .scope = kRun,
           .range = SettingRange{1, 1000}},
          {.name = "store-timeout",
           .help = "remote shards: seconds without data before a download is repeated",
           .place = text_of(options.store.retry.stall, {1, 86'400}),
           .scope = kRun},
          {.name = "follow-redirects",
           .help = "remote shards over HTTP: follow redirects to other hosts",
           .place = &options.store.follow_redirects,
           .scope = kRun}};
}

std::vector<Setting> settings_of(TableColumns& columns) {
  return {{.name = "label",
           .help = "table: column of the classes (not given: label, class or category)",
           .place = &columns.label,
           .excludes = {"labels", "target"}},
          {.name = "labels",
           .help = "table: columns of 0 and 1, one for each class, with commas between them; or "
                   "one column of lists such as cat;dog",
           .place = text_of(columns.labels),
           .excludes = {"label", "target"}},
          {.name = "target",
           .help = "table: columns of numbers to predict, with commas between them",
           .place = text_of(columns.targets),
           .excludes = {"label", "labels"}},
          {.name = "path-column",
           .help = "table: column of the images' paths (not given: path, file, filename, image, "
                   "image_path, filepath or img, else the first)",
           .place = &columns.path},
          {.name = "split-column",
           .help = "table: column with train, val or test (not given: split; none: no column)",
           .place = &columns.split},
          {.name = "weight-column",
           .help = "table: column of weights, how much each image counts in the loss",
           .place = &columns.weight}};
}

std::uint64_t parse_bytes(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  std::string_view unit(end);
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  double factor = 0;
  if (unit.empty() || unit == "B") factor = 1;
  constexpr std::string_view kLetters = "KMGT";
  if (!unit.empty()) {
    const std::size_t power = kLetters.find(unit.front() == 'k' ? 'K' : unit.front());
    const std::string_view rest = unit.substr(1);
    const auto exponent = static_cast<double>(power + 1);
    if (power != std::string_view::npos && (rest.empty() || rest == "B")) {
      factor = std::pow(1000.0, exponent);
    }
    if (power != std::string_view::npos && rest == "iB") factor = std::pow(1024.0, exponent);
  }
  if (end != text.c_str() && factor > 0 && number >= 0 && number * factor < 0x1p63) {
    return static_cast<std::uint64_t>(number * factor);
  }
  throw OptionError({.what = "cannot read a number of bytes",
                     .expected = "a number and B, KB, MB, GB, TB, KiB, MiB, GiB or TiB",
                     .found = fmt::format("\"{}\"", text)});
}

std::string bytes_text(std::uint64_t bytes) {
  struct Unit {
    std::uint64_t bytes;
    const char* name;
  };
  constexpr std::array<Unit, 9> kUnits = {{{std::uint64_t{1} << 40, "TiB"},
                                           {1'000'000'000'000, "TB"},
                                           {1 << 30, "GiB"},
                                           {1'000'000'000, "GB"},
                                           {1 << 20, "MiB"},
                                           {1'000'000, "MB"},
                                           {1 << 10, "KiB"},
                                           {1000, "KB"},
                                           {1, "B"}}};
  for (const Unit& unit : kUnits) {
    if (bytes >= unit.bytes && bytes % unit.bytes == 0) {
      return fmt::format("{}{}", bytes / unit.bytes, unit.name);
    }
  }
  return "0B";
}

}  // namespace stoker
