#include "stoker/io/detail/safetensors_header.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"
#include "stoker/io/detail/text.h"

namespace stoker::detail {
namespace {

using Json = nlohmann::json;

constexpr const char* kDamaged =
    "The header is damaged or not of this format: fetch the file again, or write it again.";

// Reads through a cursor that it shares with its copies, so that the handler knows the place, which
// the library does not tell it.
struct SharedCursor {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char** at;

  reference operator*() const { return **at; }
  SharedCursor& operator++() {
    ++*at;
    return *this;
  }
  bool operator==(const SharedCursor& other) const { return *at == *other.at; }
};

class HeaderHandler final : public nlohmann::json_sax<Json> {
 public:
  HeaderHandler(std::string_view json, const char* const* cursor, const std::string& file)
      : json_(json), cursor_(cursor), file_(file) {}

  SafetensorsHeader take() { return std::move(header_); }

  bool null() override { refuse("null"); }
  bool boolean(bool value) override { refuse(value ? "true" : "false"); }
  // Only numbers with a minus come here.
  bool number_integer(Json::number_integer_t value) override { refuse(fmt::format("{}", value)); }
  bool number_float(Json::number_float_t, const std::string& text) override {
    refuse(printable(text));
  }
  bool binary(Json::binary_t&) override { refuse("binary data"); }  // JSON has none
  bool number_unsigned(Json::number_unsigned_t value) override;
  bool string(std::string& value) override;
  bool start_object(std::size_t) override;
  bool key(std::string& value) override;
  bool end_object() override;
  bool start_array(std::size_t) override;
  bool end_array() override;
  bool parse_error(std::size_t, const std::string& token,
                   const nlohmann::detail::exception& error) override;

 private:
  enum class Place { kBefore, kTop, kMetadata, kTensor, kShape, kOffsets };
  enum Field : std::size_t { kDType, kShape, kOffsets, kFields };
  static constexpr std::array<std::string_view, kFields> kFieldNames{"dtype", "shape",
                                                                     "data_offsets"};

  void begin_entry(std::string& name);
  void begin_field(const std::string& name);
  void end_entry();
  [[nodiscard]] std::string expected() const;
  // The lexer reads one byte past a number: the place is the last byte of a value, or the next.
  [[nodiscard]] std::uint64_t offset() const {
    const auto read = static_cast<std::uint64_t>(*cursor_ - json_.data());
    return kLengthBytes + (read == 0 ? 0 : read - 1);
  }
  [[noreturn]] void fail(std::string expected_text, std::string found,
                         std::string hint = kDamaged) const {
    throw Error({.what = "cannot read safetensors file",
                 .path = file_,
                 .offset = offset(),
                 .expected = std::move(expected_text),
                 .found = std::move(found),
                 .hint = std::move(hint)});
  }
  [[noreturn]] void refuse(std::string found) const { fail(expected(), std::move(found)); }

  std::string_view json_;
  const char* const* cursor_;
  const std::string& file_;
  SafetensorsHeader header_;

  Place place_ = Place::kBefore;
  bool has_metadata_ = false;
  bool in_metadata_ = false;  // else in a tensor, once place_ is beyond kTop
  std::string metadata_key_;
  HeaderEntry entry_;
  Field field_ = kFields;
  std::array<bool, kFields> seen_{};
  std::size_t offsets_seen_ = 0;
};

// What may come here; each event that does not fit is refused with it.
std::string HeaderHandler::expected() const {
  const auto of_tensor = [&](std::string_view text) {
    return fmt::format("{} of tensor {}", text, printable(entry_.name));
  };
  switch (place_) {
    case Place::kBefore:
      return "a JSON object";
    case Place::kTop:
      return in_metadata_ ? "an object of strings as __metadata__"
                          : of_tensor("an object as the entry");
    case Place::kMetadata:
      return fmt::format("a string as metadata {}", printable(metadata_key_));
    case Place::kShape:
      return of_tensor("whole numbers of 0 to 2^63 - 1: the shape");
    case Place::kOffsets:
      return of_tensor("two whole numbers of 0 or more: the data_offsets");
    case Place::kTensor:
      break;
  }
  if (field_ == kDType) return of_tensor("a string: the dtype");
  return of_tensor(fmt::format("an array: the {}", kFieldNames[field_]));
}

bool HeaderHandler::start_object(std::size_t) {
  if (place_ == Place::kBefore) {
    place_ = Place::kTop;
  } else if (place_ == Place::kTop) {
    place_ = in_metadata_ ? Place::kMetadata : Place::kTensor;
  } else {
    refuse("an object");
  }
  return true;
}

bool HeaderHandler::key(std::string& value) {
  if (place_ == Place::kTop) {
    begin_entry(value);
  } else if (place_ == Place::kMetadata) {
    metadata_key_ = std::move(value);
  } else {
    begin_field(value);
  }
  return true;
}

void HeaderHandler::begin_entry(std::string& name) {
  in_metadata_ = name == kMetadataKey;
  if (in_metadata_) {
    if (has_metadata_) fail("each key once", "__metadata__ a second time");
    has_metadata_ = true;
    return;
  }
  if (name.empty()) fail("tensors with names", "an empty name", "Name the tensor when saving it.");
  entry_ = {};
  entry_.name = std::move(name);
  entry_.offset = offset();
  seen_ = {};
  offsets_seen_ = 0;
}

void HeaderHandler::begin_field(const std::string& name) {
  const auto known = std::ranges::find(kFieldNames, name);
  if (known == kFieldNames.end()) {
    fail(fmt::format("dtype, shape or data_offsets in tensor {}", printable(entry_.name)),
         printable(name));
  }
  field_ = static_cast<Field>(known - kFieldNames.begin());
  if (std::exchange(seen_[field_], true)) {
    fail(fmt::format("each key once in tensor {}", printable(entry_.name)),
         fmt::format("{} a second time", name));
  }
}

bool HeaderHandler::end_object() {
  if (place_ == Place::kTensor) end_entry();
  place_ = place_ == Place::kTop ? Place::kBefore : Place::kTop;
  return true;
}

void HeaderHandler::end_entry() {
  const auto missing = std::ranges::find(seen_, false);
  if (missing != seen_.end()) {
    fail(fmt::format("dtype, shape and data_offsets in tensor {}", printable(entry_.name)),
         fmt::format("no {}", kFieldNames[static_cast<std::size_t>(missing - seen_.begin())]));
  }
  header_.entries.push_back(std::move(entry_));
}

bool HeaderHandler::string(std::string& value) {
  if (place_ == Place::kMetadata) {
    const auto [entry, fresh] =
        header_.metadata.try_emplace(std::move(metadata_key_), std::move(value));
    if (!fresh) {
      fail("each key once in __metadata__", printable(entry->first) + " a second time");
    }
    return true;
  }
  if (place_ != Place::kTensor || field_ != kDType) refuse("the string " + printable(value));
  const auto dtype = dtype_from_name(value);
  if (!dtype) {
    fail(fmt::format("a dtype of BOOL, U8, I8, I16, F16, BF16, I32, F32, F64 or I64 for tensor {}",
                     printable(entry_.name)),
         printable(value), "Convert the tensor to one of these types and save it again.");
  }
  entry_.dtype = *dtype;
  return true;
}

bool HeaderHandler::start_array(std::size_t) {
  if (place_ != Place::kTensor || field_ == kDType) refuse("an array");
  place_ = field_ == kShape ? Place::kShape : Place::kOffsets;
  return true;
}

bool HeaderHandler::end_array() {
  if (place_ == Place::kOffsets && offsets_seen_ != 2) {
    refuse(fmt::format("{}", offsets_seen_));
  }
  place_ = Place::kTensor;
  return true;
}

bool HeaderHandler::number_unsigned(Json::number_unsigned_t value) {
  if (place_ == Place::kShape) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      refuse(fmt::format("{}", value));
    }
    if (entry_.shape.size() == kMaxDimensions) {
      fail(
          fmt::format("at most {} dimensions in tensor {}", kMaxDimensions, printable(entry_.name)),
          "more");
    }
    entry_.shape.push_back(static_cast<std::int64_t>(value));
  } else if (place_ == Place::kOffsets && offsets_seen_ < 2) {
    (offsets_seen_++ == 0 ? entry_.begin : entry_.end) = value;
  } else {
    refuse(place_ == Place::kOffsets ? "a third" : fmt::format("{}", value));
  }
  return true;
}

bool HeaderHandler::parse_error(std::size_t, const std::string&,
                                const nlohmann::detail::exception& error) {
  // "[json.exception.parse_error.101] parse error at line 1, column 3: syntax error …"
  std::string_view text = error.what();
  const auto prefix = text.find("syntax error ");
  if (prefix != std::string_view::npos) text.remove_prefix(prefix);
  fail("JSON", printable(text));
}

}  // namespace

SafetensorsHeader parse_header(std::string_view json, const std::string& file) {
  const char* cursor = json.data();
  const char* end = json.data() + json.size();
  HeaderHandler handler(json, &cursor, file);
  // No comments, nothing after the object. False only where a handler returned false: none does.
  const bool whole = Json::sax_parse(SharedCursor{&cursor}, SharedCursor{&end}, &handler);
  STOKER_INVARIANT(whole && cursor == end, "whole={} left={}", whole, end - cursor);
  return handler.take();
}

}  // namespace stoker::detail
