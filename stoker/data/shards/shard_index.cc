#include "stoker/data/shards/shard_index.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/digest.h"
#include "stoker/core/error.h"
#include "stoker/data/detail/letters.h"
#include "stoker/data/detail/table_text.h"
#include "stoker/data/shards/tar.h"
#include "stoker/data/sources/image_folder.h"

namespace stoker {
namespace {

constexpr std::uint64_t kMaxClassText = 256;
constexpr std::uint64_t kMaxJson = std::uint64_t{1} << 20;

[[noreturn]] void fail_index(const std::string& path, std::size_t line, std::string expected) {
  throw Error({.what = "cannot read the index of a shard",
               .path = path,
               .expected = std::move(expected),
               .found = fmt::format("something else in line {}", line),
               .hint = "Write the shards again, or remove the index to have it made anew."});
}

std::optional<IndexedSample> parse_sample(const std::vector<std::string_view>& fields) {
  if (fields.size() < 5 || fields[3].size() != 16 || !detail::stays_inside(fields[4])) return {};
  const auto offset = detail::number_in<std::uint64_t>(fields[0]);
  const auto length = detail::number_in<std::uint32_t>(fields[1]);
  const auto label = detail::number_in<std::int32_t>(fields[2]);
  const auto checksum = detail::number_in<std::uint64_t>(fields[3], 16);
  if (!offset || !length || !label || !checksum) return {};
  return IndexedSample{*offset, *length, *label, *checksum, std::string(fields[4])};
}

// Numbers with commas between them; nothing where it is something else.
template <class Number>
std::optional<std::vector<Number>> numbers_in(std::string_view text) {
  std::vector<Number> numbers;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const auto number = detail::number_in<Number>(text.substr(0, end));
    if (!number || end + 1 == text.size()) return std::nullopt;
    numbers.push_back(*number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return numbers;
}

// Whether the two texts are the fields of a sample, which is then added.
bool add_fields(std::string_view classes_text, std::string_view numbers_text, FieldRows& rows) {
  const auto classes = numbers_in<std::uint32_t>(classes_text);
  const auto numbers = numbers_in<float>(numbers_text);
  if (!classes || !numbers) return false;
  const std::span<const FieldInfo> fields = rows.fields();
  const bool is_set = fields.front().name == kClassesField;
  const std::size_t count = is_set ? fields.front().values.size() : 0;
  const bool rising =
      std::ranges::adjacent_find(*classes, std::ranges::greater_equal()) == classes->end();
  if (!rising || (!classes->empty() && classes->back() >= count) ||
      numbers->size() != number_count(fields) - count ||
      !std::ranges::all_of(*numbers, [](float number) { return std::isfinite(number); })) {
    return false;
  }
  rows.add(*classes, *numbers);
  return true;
}

// One sample as its members come by.
struct Gathered {
  std::string key;
  std::optional<TarMember> image;
  std::uint64_t checksum = 0;  // of the image
  std::string class_text;
  std::optional<detail::JsonLabels> labels = {};
};

class Scanner {
 public:
  Scanner(ArchiveBytes bytes, const std::string& path, const TableColumns& keys)
      : reader_(std::move(bytes), path),
        path_(path),
        keys_(keys),
        wants_json_(detail::names_keys(keys)),
        wants_class_(keys.labels.empty() && keys.targets.empty()) {}

  std::vector<ScannedSample> run() {
    while (const auto member = reader_.next()) add(*member);
    finish();
    return std::move(samples_);
  }

 private:
  void add(const TarMember& member) {
    const std::size_t slash = member.name.rfind('/');
    const std::size_t base = slash == std::string::npos ? 0 : slash + 1;
    const std::size_t dot = member.name.find('.', base);
    if (dot == base || dot == std::string::npos) return;  // hidden, or no part of a sample
    const std::string key = member.name.substr(0, dot);
    if (!gathered_ || gathered_->key != key) {
      finish();
      gathered_ = Gathered{.key = key, .image = {}, .class_text = {}};
    }
    take(member, detail::lower_case(member.name.substr(dot + 1)));
  }

  void take(const TarMember& member, const std::string& kind) {
    if (has_image_extension("." + kind) && kind.find('.') == std::string::npos) {
      if (gathered_->image) refuse(member.name, "a second image");
      if (member.size > std::numeric_limits<std::uint32_t>::max()) refuse(member.name, "4 GiB");
      gathered_->image = member;
      gathered_->checksum = digest64(reader_.content(member));
      return;
    }
    if (kind == "json" && wants_json_) take_labels(member);
    if (wants_class_) take_class(member, kind);
  }

  void take_labels(const TarMember& member) {
    if (member.size > kMaxJson) refuse(member.name, "more than a megabyte");
    auto labels = detail::labels_in_json(reader_.content(member), keys_);
    if (!labels) {
      ErrorDetails error = labels.error();
      error.path = path_ + "#" + member.name;
      throw Error(std::move(error));
    }
    gathered_->labels = std::move(*labels);
  }

  void take_class(const TarMember& member, const std::string& kind) {
    if (kind == "cls") {
      if (member.size > kMaxClassText) refuse(member.name, "a class of more than 256 bytes");
      gathered_->class_text = trimmed(reader_.content(member));
      if (!detail::is_plain_text(gathered_->class_text)) refuse(member.name, "no plain text");
    } else if (kind == "json" && keys_.label.empty() && gathered_->class_text.empty()) {
      if (member.size > kMaxJson) refuse(member.name, "more than a megabyte");
      gathered_->class_text = detail::class_in_json(reader_.content(member));
      if (!detail::is_plain_text(gathered_->class_text)) refuse(member.name, "no plain text");
    }
  }

  static std::string trimmed(std::span<const std::byte> bytes) {
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") + 1 - first));
  }

  void finish() {
    if (!gathered_) return;
    if (!gathered_->image) refuse(gathered_->key, "a sample without an image");
    finish_labels();
    const TarMember& image = *gathered_->image;
    samples_.push_back({.sample = {.offset = image.offset,
                                   .length = static_cast<std::uint32_t>(image.size),
                                   .checksum = gathered_->checksum,
                                   .name = image.name},
                        .class_text = std::move(gathered_->class_text),
                        .labels = std::move(gathered_->labels).value_or(detail::JsonLabels{})});
    gathered_.reset();
  }

  // A class may also come from .cls, where there is no .json.
  void finish_labels() {
    if (!wants_json_) return;
    const bool only_class = wants_class_ && keys_.weight.empty();
    if (!gathered_->labels && !(only_class && !gathered_->class_text.empty())) {
      refuse(gathered_->key, "a sample without .json");
    }
    if (gathered_->labels && !keys_.label.empty()) {
      gathered_->class_text = gathered_->labels->class_text;
    }
  }

  [[noreturn]] void refuse(const std::string& member, std::string found) const {
    throw Error(
        {.what = "cannot use the shard",
         .path = path_ + "#" + member,
         .expected =
             "samples of one image (.jpg, .png, .webp, .tif, .bmp, .ppm …) and .cls or .json",
         .found = std::move(found)});
  }

  TarReader reader_;
  const std::string& path_;
  const TableColumns& keys_;
  bool wants_json_, wants_class_;
  std::optional<Gathered> gathered_;
  std::vector<ScannedSample> samples_;
};

}  // namespace

std::string to_text(const ShardIndex& index) {
  const bool has_fields = !index.fields.fields().empty();
  std::string text = fmt::format("#stoker-index\t{}\t{}\t{}\t{}\n", has_fields ? 2 : 1, index.shard,
                                 index.samples.size(), index.plan);
  for (std::size_t i = 0; i < index.samples.size(); ++i) {
    const IndexedSample& sample = index.samples[i];
    fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{:016x}\t{}", sample.offset,
                   sample.length, sample.label, sample.checksum, sample.name);
    if (has_fields) {
      fmt::format_to(std::back_inserter(text), "\t{}\t{}", fmt::join(index.fields.classes(i), ","),
                     fmt::join(index.fields.numbers(i), ","));
    }
    text += '\n';
  }
  return text;
}

ShardIndex parse_shard_index(std::string_view text, const ShardBounds& bounds,
                             const std::string& path) {
  const auto head = detail::fields_of(detail::take_line(text));
  const auto count = head.size() == 5 ? detail::number_in<std::uint64_t>(head[3]) : std::nullopt;
  const std::string version = bounds.fields.empty() ? "1" : "2";
  if (!count || head[0] != "#stoker-index" || head[1] != version ||
      !detail::stays_inside(head[2]) || !detail::is_plain_text(head[4])) {
    fail_index(
        path, 1,
        fmt::format("#stoker-index, {}, the shard's name, its samples and their plan", version));
  }
  ShardIndex index{.shard = std::string(head[2]),
                   .plan = std::string(head[4]),
                   .samples = {},
                   .fields = FieldRows({bounds.fields.begin(), bounds.fields.end()})};
  std::uint64_t end = 0;
  for (std::size_t line = 2; !text.empty(); ++line) {
    if (text.find('\n') == std::string_view::npos) fail_index(path, line, "a whole line");
    const auto words = detail::fields_of(detail::take_line(text));
    auto sample = parse_sample(words);
    if (!sample || words.size() != (bounds.fields.empty() ? 5 : 7))
      fail_index(path, line, "offset, length, label, checksum and name");
    if (sample->offset < end || sample->offset > bounds.bytes ||
        sample->length > bounds.bytes - sample->offset) {
      fail_index(path, line, fmt::format("a sample after byte {}, within {}", end, bounds.bytes));
    }
    if (bounds.classes == 0 ? sample->label != -1
                            : sample->label < 0 || sample->label >= bounds.classes) {
      fail_index(path, line, fmt::format("a label among {} classes", bounds.classes));
    }
    if (!bounds.fields.empty() && !add_fields(words[5], words[6], index.fields)) {
      fail_index(path, line, "places of classes, and finite numbers for the other fields");
    }
    end = sample->offset + sample->length;
    index.samples.push_back(*std::move(sample));
  }
  if (index.samples.size() != *count) fail_index(path, 1, "the number of samples that follow");
  return index;
}

std::string index_name(std::string_view shard) {
  if (shard.ends_with(".tar")) shard.remove_suffix(4);
  return std::string(shard) + ".tsv";
}

std::vector<ScannedSample> scan_shard(ArchiveBytes bytes, const std::string& path,
                                      const TableColumns& keys) {
  return Scanner(std::move(bytes), path, keys).run();
}

}  // namespace stoker
