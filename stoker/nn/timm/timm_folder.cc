#include "stoker/nn/timm/timm_folder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/io/weights_file.h"
#include "stoker/nn/model_keys.h"

namespace stoker {
namespace {

// By Pillow's numbers, which our policies have too.
constexpr std::array<std::string_view, 5> kFilterNames = {"nearest", "lanczos", "bilinear",
                                                          "bicubic", "box"};
constexpr std::int64_t kBilinear = 2;

[[noreturn]] void fail_framing(const TimmFolder& folder, std::string expected, std::string found) {
  throw Error({.what = "cannot prepare images as the folder's config.json says",
               .path = folder.file,
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = "Name what gives images their size with `val_aa`"});
}

// A policy of one operation with whole numbers.
struct OneOperation {
  std::string_view name;
  std::vector<std::int64_t> numbers = {};
};
std::optional<OneOperation> parse_one(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || !text.ends_with(')')) return std::nullopt;
  OneOperation operation{.name = text.substr(0, open)};
  const char* at = text.data() + open + 1;
  const char* end = text.data() + text.size() - 1;
  while (true) {
    std::int64_t number = 0;
    const auto parsed = std::from_chars(at, end, number);
    if (parsed.ec != std::errc{}) return std::nullopt;
    operation.numbers.push_back(number);
    if (parsed.ptr == end) return operation;
    if (*parsed.ptr != ',') return std::nullopt;
    at = parsed.ptr + 1;
  }
}

std::optional<std::string> filter_name(const OneOperation& operation) {
  const std::int64_t number = operation.numbers.size() == 3 ? operation.numbers[2] : kBilinear;
  if (number < 0 || number >= static_cast<std::int64_t>(kFilterNames.size())) return std::nullopt;
  return std::string(kFilterNames[static_cast<std::size_t>(number)]);
}

// timm resizes the shorter side to floor(size / crop).
std::int64_t side_before_crop(std::int64_t size, double crop) {
  return static_cast<std::int64_t>(std::floor(static_cast<double>(size) / crop));
}

// The fraction of which timm makes this side again; 0 where there is none.
double crop_fraction(std::int64_t shorter, std::int64_t size) {
  double crop = static_cast<double>(size) / static_cast<double>(shorter);
  if (side_before_crop(size, crop) < shorter) crop = std::nextafter(crop, 0.0);
  return side_before_crop(size, crop) == shorter ? crop : 0;
}

[[noreturn]] void fail_config_for(const TimmSubject& subject, std::string expected,
                                  std::string found) {
  throw Error({.what = fmt::format("timm cannot use {} as it is", subject.architecture),
               .expected = std::move(expected),
               .found = std::move(found)});
}

void set_framing(TimmConfig& config, const TimmSubject& subject) {
  const ImageShape& image = subject.image;
  // Without a framing, images of another size are resized as a whole.
  const std::string framing = subject.preprocessing.framing.empty()
                                  ? fmt::format("resize({},{})", image.height, image.width)
                                  : subject.preprocessing.framing;
  const auto operation = parse_one(framing);
  const bool has_sizes =
      operation && (operation->numbers.size() == 2 || operation->numbers.size() == 3);
  const auto filter = has_sizes ? filter_name(*operation) : std::nullopt;
  config.crop = 0;
  if (filter && operation->name == "resize") {
    config.crop_mode = "squash";
    config.crop = 1;
  }
  if (filter && operation->name == "resize_crop") {
    config.crop_mode = "center";
    config.crop = crop_fraction(operation->numbers[0], operation->numbers[1]);
  }
  if (config.crop == 0) fail_config_for(subject, "a framing of resize or resize_crop", framing);
  config.interpolation = *filter;
}

}  // namespace

std::optional<std::filesystem::path> timm_config_of(const std::filesystem::path& weights) {
  if (weights.filename() != "model.safetensors") return std::nullopt;
  std::filesystem::path config = weights.parent_path() / "config.json";
  const bool is_timms = std::filesystem::exists(config) && is_timm_config(config);
  return is_timms ? std::optional(std::move(config)) : std::nullopt;
}

TimmFolder read_timm_folder(const std::filesystem::path& config) {
  TimmFolder folder{.config = read_timm_config(config), .file = config.string()};
  folder.family = find_family_of_timm(folder.config.architecture);
  return folder;
}

const TimmFamily& built_in_family(const TimmFolder& folder) {
  if (folder.family != nullptr) return *folder.family;
  std::vector<std::string_view> names;
  for (const TimmFamily& family : timm_families()) names.push_back(family.timm);
  throw Error({.what = "the folder's network is not built in",
               .path = folder.file,
               .expected = fmt::format("one of {}", fmt::join(names, ", ")),
               .found = folder.config.architecture,
               .hint = "Export it with scripts/export_network.py, and train the .pt2 file"});
}

std::optional<TimmFolder> timm_folder_of(const std::filesystem::path& weights) {
  const auto config = timm_config_of(weights);
  if (!config) return std::nullopt;
  const WeightsFile file(weights);
  if (file.metadata().contains(kArchitectureKey)) return std::nullopt;
  return read_timm_folder(*config);
}

std::string timm_framing(const TimmFolder& folder) {
  const TimmConfig& config = folder.config;
  const auto* const filter = std::ranges::find(kFilterNames, config.interpolation);
  if (filter == kFilterNames.end()) {
    fail_framing(folder, fmt::format("an interpolation of {}", fmt::join(kFilterNames, ", ")),
                 config.interpolation);
  }
  const auto number = filter - kFilterNames.begin();
  const std::string last = number == kBilinear ? "" : fmt::format(",{}", number);
  const auto [channels, height, width] = config.image;
  if (config.crop_mode == "squash" && config.crop == 1) {
    return fmt::format("resize({},{}{})", height, width, last);
  }
  if (config.crop_mode != "center") {
    fail_framing(folder, "a crop_mode of center, or of squash with a crop_pct of 1",
                 fmt::format("{} with {}", config.crop_mode, config.crop));
  }
  if (height != width || config.crop > 1) {
    fail_framing(folder, "a square and a crop_pct of at most 1",
                 fmt::format("{}x{} and {}", height, width, config.crop));
  }
  return fmt::format("resize_crop({},{}{})", side_before_crop(height, config.crop), height, last);
}

Preprocessing timm_preprocessing(const TimmFolder& folder) {
  const TimmConfig& config = folder.config;
  if (config.image[0] != 3) {
    fail_framing(folder, "images of 3 channels", fmt::format("{}", config.image[0]));
  }
  Preprocessing preprocessing{.framing = timm_framing(folder)};
  std::ranges::copy(config.mean, preprocessing.mean.begin());
  std::ranges::copy(config.deviation, preprocessing.deviation.begin());
  return preprocessing;
}

TimmConfig make_timm_config(const TimmSubject& subject) {
  const TimmFamily* family = find_timm_family(subject.architecture);
  if (family == nullptr) {
    std::vector<std::string_view> names;
    for (const TimmFamily& one : timm_families()) names.push_back(one.architecture);
    fail_config_for(subject, fmt::format("one of {}", fmt::join(names, ", ")),
                    subject.architecture);
  }
  const ImageShape& image = subject.image;
  if (image.channels != 3 || image.depth != 8 || !subject.preprocessing.window.empty()) {
    fail_config_for(subject, "images of 3 channels of 8 bits, without a window",
                    fmt::format("{} channels of {} bits", image.channels, image.depth));
  }
  TimmConfig config{.architecture = std::string(family->timm),
                    .classes = static_cast<std::int64_t>(subject.class_names.size()),
                    .first_conv = std::string(family->first_conv),
                    .classifier = std::string(family->classifier),
                    .image = {image.channels, image.height, image.width},
                    .class_names = subject.class_names};
  std::copy_n(subject.preprocessing.mean.begin(), 3, config.mean.begin());
  std::copy_n(subject.preprocessing.deviation.begin(), 3, config.deviation.begin());
  set_framing(config, subject);
  return config;
}

std::string framing_filter(const std::string& framing) {
  const auto operation = parse_one(framing);
  const bool may_name = operation && operation->name.starts_with("resize");
  const auto name = may_name ? filter_name(*operation) : std::nullopt;
  return name.value_or("bilinear");
}

}  // namespace stoker
