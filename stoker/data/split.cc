#include "stoker/data/split.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "stoker/core/error.h"
#include "stoker/data/detail/choose_samples.h"
#include "stoker/data/sources/exact_duplicates.h"

namespace stoker {
namespace {

using detail::SampleGroups;

// Bytes and not characters, so that names in any encoding match; messages are ours.
RE2::Options expression_options() {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  return options;
}

[[noreturn]] void refuse_expression(std::string expected, std::string found, std::string hint) {
  throw OptionError({.what = "cannot read the expression for groups",
                     .expected = std::move(expected),
                     .found = std::move(found),
                     .hint = std::move(hint)});
}

void check_expression(const RE2& expression) {
  constexpr const char* kHint =
      "Put () round the part of the path that names the group, e.g. \"patient([0-9]+)_\".";
  const std::string& text = expression.pattern();
  if (!expression.ok()) {
    const bool is_perls = expression.error_code() == RE2::ErrorBadPerlOp ||
                          expression.error_code() == RE2::ErrorBadEscape;
    refuse_expression("a regular expression", fmt::format("\"{}\" ({})", text, expression.error()),
                      is_perls ? "RE2 reads it, whose time is bounded: it has no look-ahead, "
                                 "look-behind or back-references, such as (?=a) and \\1."
                               : kHint);
  }
  if (expression.NumberOfCapturingGroups() == 0) {
    refuse_expression("parentheses", fmt::format("none in \"{}\"", text), kHint);
  }
}

// Sets how many images the expression does not match.
SampleGroups group_by(const ImageListing& listing, const std::string& text,
                      std::uint64_t& ungrouped) {
  const RE2 expression(text, expression_options());
  check_expression(expression);
  SampleGroups groups;
  std::unordered_map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < listing.images.size(); ++i) {
    const std::string& path = listing.images[i].path;
    std::array<re2::StringPiece, 2> match;  // all of it, and the group
    std::size_t number = groups.count();
    if (expression.Match(path, 0, path.size(), RE2::UNANCHORED, match.data(), match.size()) &&
        match[1].data() != nullptr) {
      number = numbers.emplace(std::string(match[1]), number).first->second;
    } else {
      ++ungrouped;
    }
    if (number == groups.count()) groups.first_sample.push_back(i);
    groups.of_sample.push_back(number);
  }
  if (ungrouped == listing.images.size()) {
    throw Error({.what = "the expression for groups matches no image",
                 .expected = fmt::format("\"{}\" in relative paths", text),
                 .found = fmt::format("paths such as {}", listing.images.front().path),
                 .hint = "Correct the expression; it is searched for anywhere in the path."});
  }
  return groups;
}

std::vector<std::int32_t> labels_of(const ImageListing& listing) {
  std::vector<std::int32_t> labels;
  labels.reserve(listing.images.size());
  for (const ListedImage& image : listing.images) labels.push_back(image.label);
  return labels;
}

void check_options(const SplitOptions& options) {
  if (options.fraction && !(*options.fraction > 0 && *options.fraction < 1)) {
    throw Error({.what = "cannot split",
                 .expected = "a fraction between 0 and 1, without these",
                 .found = fmt::format("{}", *options.fraction)});
  }
  if (!options.fraction && options.every < 2) {
    throw Error({.what = "cannot split",
                 .expected = "every 2nd image or fewer",
                 .found = fmt::format("{}", options.every)});
  }
}

void check_sides(const ImageListing& listing, const SplitParts& parts) {
  if (!parts.train.images.empty() && !parts.validation.images.empty()) return;
  throw Error({.what = "a side of the split would be empty",
               .path = listing.root.string(),
               .expected = "images for training and for validation",
               .found = fmt::format("{} and {} of {}", parts.train.images.size(),
                                    parts.validation.images.size(), listing.images.size()),
               .hint = "Choose another share; groups and exact duplicates stay together."});
}

}  // namespace

SplitParts split_listing(const ImageListing& listing, const SplitOptions& options) {
  check_options(options);
  SplitParts parts;
  SampleGroups groups = options.group.empty() ? detail::each_alone(listing.images.size())
                                              : group_by(listing, options.group, parts.ungrouped);
  detail::tie_duplicates(find_exact_duplicates(listing), groups);
  const std::vector<std::int32_t> labels = labels_of(listing);
  const detail::LabelledGroups data{.labels = labels,
                                    .classes = std::max<std::size_t>(listing.class_names.size(), 1),
                                    .groups = groups};
  const std::vector<bool> chosen =
      options.fraction ? detail::choose_fraction(data, {.fraction = *options.fraction,
                                                        .stratified = options.stratified,
                                                        .seed = options.seed})
                       : detail::choose_every(data, options.every);
  parts.train = parts.validation = without_images(listing);
  parts.train.ignored = listing.ignored;
  for (std::size_t i = 0; i < listing.images.size(); ++i) {
    const bool validation = chosen[groups.unit_of(i)];
    if (!options.fraction && validation != chosen[groups.of_sample[i]]) ++parts.moved;
    add_image(validation ? parts.validation : parts.train, listing, i);
  }
  check_sides(listing, parts);
  return parts;
}

}  // namespace stoker
