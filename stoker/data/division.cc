#include "stoker/data/division.h"

#include <algorithm>
#include <cstdio>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "stoker/core/digest.h"
#include "stoker/core/error.h"
#include "stoker/data/detail/choose_samples.h"
#include "stoker/data/shards/shard_source.h"
#include "stoker/data/sources/exact_duplicates.h"
#include "stoker/data/sources/folder_source.h"
#include "stoker/data/sources/selection.h"

namespace stoker {
namespace {

using Kind = Division::Kind;

[[noreturn]] void fail(std::string expected, std::string found, std::string hint = {}) {
  throw OptionError({.what = "cannot divide the training data",
                     .expected = std::move(expected),
                     .found = std::move(found),
                     .hint = std::move(hint)});
}

void check(const Division& division) {
  switch (division.kind) {
    case Kind::kEvery:
      if (division.every < 2) fail("`val_every` 2 or more", fmt::format("{}", division.every));
      return;
    case Kind::kFraction:
      if (!(division.fraction > 0 && division.fraction < 1)) {
        fail("`val_fraction` above 0 and below 1", fmt::format("{}", division.fraction));
      }
      return;
    case Kind::kFolds:
      if (division.folds < 2) fail("`folds` 2 or more", fmt::format("{}", division.folds));
      if (division.fold >= division.folds) {
        fail(fmt::format("`fold` 0 to {}", division.folds - 1), fmt::format("{}", division.fold));
      }
  }
}

void check_parts(std::uint64_t train, std::uint64_t validation, const char* what) {
  if (train > 0 && validation > 0) return;
  fail(fmt::format("{} for training and for validation", what),
       fmt::format("{} and {}", train, validation),
       "Choose another division, or name validation data with `val_data`.");
}

std::uint64_t content_digest(const Source& source, std::uint64_t index, SampleBuffer& buffer) {
  const auto room = [&](std::size_t bytes) {
    buffer.file.resize(bytes);
    return std::span(buffer.file);
  };
  auto bytes = source.read_bytes(index, room);
  if (!bytes->empty()) return digest64(*bytes);
  auto sample = source.read(index, buffer);
  const Image copy = sample->image.contiguous() ? Image() : Image(sample->image);
  const ImageView image = sample->image.contiguous() ? sample->image : copy.view();
  return digest64(std::as_bytes(std::span(image.data, image.shape.bytes())));
}

std::vector<std::vector<std::size_t>> duplicates_of(const Source& source) {
  if (const auto* folder = dynamic_cast<const FolderSource*>(&source)) {
    return find_exact_duplicates(folder->listing());
  }
  std::unordered_map<std::uint64_t, std::size_t> first;  // sample with this content
  std::unordered_map<std::size_t, std::vector<std::size_t>> sets;
  SampleBuffer buffer;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    const auto [known, is_new] = first.emplace(content_digest(source, i, buffer), i);
    if (is_new) continue;
    auto& set = sets[known->second];
    if (set.empty()) set.push_back(known->second);
    set.push_back(i);
  }
  std::vector<std::vector<std::size_t>> all;
  for (auto& [place, set] : sets) all.push_back(std::move(set));
  std::ranges::sort(all);
  return all;
}

std::vector<std::int32_t> labels_of(const Source& source) {
  std::vector<std::int32_t> labels;
  labels.reserve(source.size());
  SampleBuffer buffer;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    labels.push_back(static_cast<std::int32_t>(source.label(i, buffer).value()));
  }
  return labels;
}

// Whether each unit validates.
std::vector<bool> choose(const detail::LabelledGroups& data, const Division& division) {
  if (division.kind == Kind::kEvery) return detail::choose_every(data, division.every);
  if (division.kind == Kind::kFraction) {
    return detail::choose_fraction(
        data, {.fraction = division.fraction, .stratified = true, .seed = division.seed});
  }
  const auto fold = detail::deal_folds(data, division.folds, division.seed);
  std::vector<bool> chosen(fold.size());
  for (std::size_t i = 0; i < fold.size(); ++i) chosen[i] = fold[i] == division.fold;
  return chosen;
}

// Whether each sample validates.
std::vector<bool> choose_samples(const Source& source, const Division& division) {
  detail::SampleGroups groups = detail::each_alone(source.size());
  detail::tie_duplicates(duplicates_of(source), groups);
  const std::vector<std::int32_t> labels = labels_of(source);
  const std::vector<bool> chosen =
      choose({.labels = labels,
              .classes = std::max<std::size_t>(source.class_names().size(), 1),
              .groups = groups},
             division);
  std::vector<bool> validates(source.size());
  for (std::size_t i = 0; i < validates.size(); ++i) validates[i] = chosen[groups.unit_of(i)];
  return validates;
}

DividedSource divide_folder(const FolderSource& source, const std::vector<bool>& validates) {
  const ImageListing& whole = source.listing();
  ImageListing train = without_images(whole), validation = without_images(whole);
  train.ignored = whole.ignored;
  for (std::size_t i = 0; i < whole.images.size(); ++i) {
    add_image(validates[i] ? validation : train, whole, i);
  }
  return {.train = std::make_shared<FolderSource>(std::move(train), source.options()),
          .validation = std::make_shared<FolderSource>(std::move(validation), source.options())};
}

DividedSource divide_samples(const std::shared_ptr<const Source>& source,
                             const Division& division) {
  const std::vector<bool> validates = choose_samples(*source, division);
  const auto count = static_cast<std::uint64_t>(std::ranges::count(validates, true));
  check_parts(validates.size() - count, count, "samples");
  if (const auto* folder = dynamic_cast<const FolderSource*>(source.get())) {
    return divide_folder(*folder, validates);
  }
  std::vector<std::uint64_t> train, validation;
  for (std::uint64_t i = 0; i < validates.size(); ++i) {
    (validates[i] ? validation : train).push_back(i);
  }
  return {.train = std::make_shared<Selection>(source, std::move(train)),
          .validation = std::make_shared<Selection>(source, std::move(validation))};
}

// Depends on name and seed alone: shards that are added leave the others where they are.
double place_of_shard(const std::string& name, std::uint64_t seed) {
  const std::string text = fmt::format("{}\t{}", seed, name);
  return static_cast<double>(digest64(std::as_bytes(std::span(text)))) * 0x1p-64;
}

DividedSource divide_shards(const ShardSource& source, const Division& division) {
  if (division.kind == Kind::kEvery) {
    fail("`val_fraction`, which takes whole shards", "`val_every`",
         "To divide by samples, run `stoker split` before `stoker shard`.");
  }
  std::vector<std::pair<double, std::uint32_t>> order;
  const auto& shards = source.shards().manifest().shards;
  for (std::uint32_t i = 0; i < shards.size(); ++i) {
    order.emplace_back(place_of_shard(shards[i].name, division.seed), i);
  }
  std::ranges::sort(order);
  const std::size_t most = order.empty() ? 0 : order.size() - 1;
  const auto below = static_cast<std::size_t>(std::ranges::count_if(
      order, [&](const auto& shard) { return shard.first < division.fraction; }));
  const std::size_t taken = std::clamp<std::size_t>(below, 1, std::max<std::size_t>(1, most));
  std::vector<std::uint32_t> train, validation;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool validates =
        division.kind == Kind::kFolds ? i % division.folds == division.fold : i < taken;
    (validates ? validation : train).push_back(order[i].second);
  }
  check_parts(train.size(), validation.size(), "shards");
  std::ranges::sort(train);
  std::ranges::sort(validation);
  return {.train = source.part(train), .validation = source.part(validation)};
}

}  // namespace

std::string to_text(const Division& division) {
  switch (division.kind) {
    case Kind::kEvery:
      return fmt::format("val-every {}", division.every);
    case Kind::kFraction:
      return fmt::format("val-fraction {}, split-seed {}", division.fraction, division.seed);
    case Kind::kFolds:
      return fmt::format("folds {}, fold {}, split-seed {}", division.folds, division.fold,
                         division.seed);
  }
  return "";
}

Division parse_division(const std::string& text, const std::string& path) {
  Division division;
  unsigned long long seed = 0;
  if (std::sscanf(text.c_str(), "val-every %u", &division.every) == 1) {
    division.kind = Kind::kEvery;
  } else if (std::sscanf(text.c_str(), "val-fraction %lf, split-seed %llu", &division.fraction,
                         &seed) == 2) {
    division.kind = Kind::kFraction;
  } else if (std::sscanf(text.c_str(), "folds %u, fold %u, split-seed %llu", &division.folds,
                         &division.fold, &seed) == 3) {
    division.kind = Kind::kFolds;
  }
  division.seed = seed;
  // What is not read back as it was written is none of ours.
  if (to_text(division) == text) {
    check(division);
    return division;
  }
  throw Error({.what = "cannot read how the training data was divided",
               .path = path,
               .expected = "such as \"val-fraction 0.1, split-seed 0\"",
               .found = fmt::format("\"{}\"", text.substr(0, 100))});
}

DividedSource divide(const std::shared_ptr<const Source>& source, const Division& division) {
  check(division);
  if (const auto* shards = dynamic_cast<const ShardSource*>(source.get())) {
    return divide_shards(*shards, division);
  }
  return divide_samples(source, division);
}

}  // namespace stoker
