#include "stoker/data/sources/joined_source.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"

namespace stoker {
namespace {

std::string text_of(const ImageShape& shape) {
  return fmt::format("{}x{}x{}", shape.height, shape.width, shape.channels);
}

// "3 classes, the first \"ant\"" where they differ only further on would not help: name the first
// that differs.
std::string class_at(const std::vector<std::string>& names, std::size_t place) {
  if (place >= names.size()) return fmt::format("{} classes", names.size());
  return fmt::format("\"{}\" as class {} of {}", names[place], place, names.size());
}

// (field, value) for each number of a sample.
using NumberNames = std::vector<std::pair<std::string, std::string>>;

NumberNames number_names(const Source& source) {
  NumberNames names;
  for (const FieldInfo& field : source.fields()) {
    for (const std::string& value : field.values) names.emplace_back(field.name, value);
  }
  return names;
}

std::string number_at(const NumberNames& names, std::size_t place) {
  if (place >= names.size()) return fmt::format("no number {}", place);
  const auto& [field, value] = names[place];
  return fmt::format("\"{}\" of {} as number {} of {}", value, field, place, names.size());
}

void check_fits(const JoinedSource::Part& first, const JoinedSource::Part& other) {
  const auto& expected = first.source->class_names();
  const auto& found = other.source->class_names();
  const std::string what = fmt::format("cannot join {} and {}", first.name, other.name);
  if (expected != found) {
    const auto place =
        static_cast<std::size_t>(std::ranges::mismatch(expected, found).in1 - expected.begin());
    throw Error({.what = what,
                 .expected = fmt::format("the same classes: {}", class_at(expected, place)),
                 .found = class_at(found, place)});
  }
  const NumberNames wanted = number_names(*first.source), given = number_names(*other.source);
  if (wanted != given) {
    const auto place =
        static_cast<std::size_t>(std::ranges::mismatch(wanted, given).in1 - wanted.begin());
    throw Error({.what = what,
                 .expected = fmt::format("the same fields: {}", number_at(wanted, place)),
                 .found = number_at(given, place)});
  }
  const bool depth = first.source->depth() == other.source->depth();
  if (depth && first.source->channels() == other.source->channels()) return;
  const auto text = [depth](const Source& source) {
    return depth ? fmt::format("{} channels", source.channels())
                 : fmt::format("values of {} bits", source.depth());
  };
  throw Error({.what = what, .expected = text(*first.source), .found = text(*other.source)});
}

}  // namespace

JoinedSource::JoinedSource(std::vector<Part> parts) : parts_(std::move(parts)) {
  STOKER_INVARIANT(!parts_.empty(), "{} parts", parts_.size());
  std::uint64_t end = 0;
  for (const Part& part : parts_) {
    check_fits(parts_.front(), part);
    ends_.push_back(end += part.source->size());
  }
}

ImageShape JoinedSource::shape() const {
  const ImageShape first = parts_.front().source->shape();
  for (const Part& part : parts_) {
    const ImageShape other = part.source->shape();
    if (other == first) continue;
    throw Error(
        {.what = fmt::format("images of {} and {} differ in size", parts_.front().name, part.name),
         .expected = text_of(first),
         .found = text_of(other),
         .hint = "Begin the policy with a size, e.g. `aa` \"resize(224,224)\""});
  }
  return first;
}

JoinedSource::Place JoinedSource::place_of(std::uint64_t index) const noexcept {
  const auto part =
      static_cast<std::size_t>(std::ranges::upper_bound(ends_, index) - ends_.begin());
  return {*parts_[part].source, part == 0 ? index : index - ends_[part - 1]};
}

std::string JoinedSource::sample_name(std::uint64_t index) const {
  const Place place = place_of(index);
  return place.source.sample_name(place.index);
}

void JoinedSource::prefetch(std::uint64_t index) const noexcept {
  const Place place = place_of(index);
  place.source.prefetch(place.index);
}

Result<Sample> JoinedSource::read(std::uint64_t index, SampleBuffer& buffer) const {
  const Place place = place_of(index);
  return place.source.read(place.index, buffer);
}

Result<std::int64_t> JoinedSource::label(std::uint64_t index, SampleBuffer& buffer) const {
  const Place place = place_of(index);
  return place.source.label(place.index, buffer);
}

Result<std::size_t> JoinedSource::read_fields(std::uint64_t index, std::span<float> out) const {
  const Place place = place_of(index);
  return place.source.read_fields(place.index, out);
}

Result<Sample> JoinedSource::read_framed(std::uint64_t index, const FrameRequest& request,
                                         SampleBuffer& buffer) const {
  const Place place = place_of(index);
  return place.source.read_framed(place.index, request, buffer);
}

Result<std::span<const std::byte>> JoinedSource::read_bytes(std::uint64_t index,
                                                            const MakeRoom& room) const {
  const Place place = place_of(index);
  return place.source.read_bytes(place.index, room);
}

Result<Sample> JoinedSource::decode(std::uint64_t index, std::span<const std::byte> bytes,
                                    const FrameRequest& request, SampleBuffer& buffer) const {
  const Place place = place_of(index);
  return place.source.decode(place.index, bytes, request, buffer);
}

}  // namespace stoker
