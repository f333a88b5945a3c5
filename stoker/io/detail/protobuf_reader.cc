#include "stoker/io/detail/protobuf_reader.h"

#include <utility>

#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker::detail {

void ProtoReader::fail(std::string expected, std::string found) const {
  throw Error({.what = fmt::format("cannot read {}", what_),
               .path = file_,
               .offset = static_cast<std::uint64_t>(rest_.data() - whole_.data()),
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = "The file is damaged, cut short or of another format"});
}

// Seven bits a byte, the lowest first; the top bit says that more follow.
std::uint64_t ProtoReader::varint() {
  constexpr std::size_t kMostBytes = 10;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < kMostBytes; ++i) {
    if (i == rest_.size()) fail("the rest of a number", "the end of the message");
    const auto byte = std::to_integer<std::uint64_t>(rest_[i]);
    if (i == kMostBytes - 1 && byte > 1) break;  // more than 64 bits
    value |= (byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      rest_ = rest_.subspan(i + 1);
      return value;
    }
  }
  fail("a number of at most 64 bits", "more");
}

std::uint64_t ProtoReader::fixed(std::size_t bytes) {
  if (rest_.size() < bytes) fail(fmt::format("{} bytes", bytes), fmt::format("{}", rest_.size()));
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value |= std::to_integer<std::uint64_t>(rest_[i]) << (8 * i);
  }
  rest_ = rest_.subspan(bytes);
  return value;
}

std::optional<ProtoField> ProtoReader::next() {
  if (rest_.empty()) return std::nullopt;
  const std::uint64_t key = varint();
  constexpr std::uint64_t kMostNumber = (1U << 29) - 1;
  const std::uint64_t number = key >> 3;
  if (number == 0 || number > kMostNumber) {
    fail(fmt::format("a field from 1 to {}", kMostNumber), fmt::format("{}", number));
  }
  ProtoField field{.number = static_cast<std::uint32_t>(number)};
  switch (key & 7) {
    case 0:
      field.value = varint();
      return field;
    case 1:
      field.kind = ProtoField::Kind::kFixed64;
      field.value = fixed(8);
      return field;
    case 2: {
      field.kind = ProtoField::Kind::kBytes;
      const std::uint64_t length = varint();
      if (length > rest_.size()) {
        fail(fmt::format("{} bytes of field {}", length, number), fmt::format("{}", rest_.size()));
      }
      field.bytes = rest_.first(static_cast<std::size_t>(length));
      rest_ = rest_.subspan(static_cast<std::size_t>(length));
      return field;
    }
    case 5:
      field.kind = ProtoField::Kind::kFixed32;
      field.value = fixed(4);
      return field;
    default:
      fail("a number or bytes", fmt::format("wire type {} of field {}", key & 7, number));
  }
}

ProtoReader ProtoReader::message(const ProtoField& field) const {
  if (field.kind != ProtoField::Kind::kBytes) {
    fail(fmt::format("a message in field {}", field.number), "a number");
  }
  return {field.bytes, whole_, what_, file_};
}

std::string_view ProtoReader::text(const ProtoField& field) const {
  if (field.kind != ProtoField::Kind::kBytes) {
    fail(fmt::format("a text in field {}", field.number), "a number");
  }
  return {reinterpret_cast<const char*>(field.bytes.data()), field.bytes.size()};
}

std::int64_t ProtoReader::integer(const ProtoField& field) const {
  if (field.kind != ProtoField::Kind::kVarint) {
    fail(fmt::format("an integer in field {}", field.number), "something else");
  }
  return static_cast<std::int64_t>(field.value);
}

void ProtoReader::integers(const ProtoField& field, std::size_t most,
                           std::vector<std::int64_t>& values) const {
  const auto add = [&](std::int64_t value) {
    if (values.size() == most) {
      fail(fmt::format("at most {} numbers in field {}", most, field.number), "more");
    }
    values.push_back(value);
  };
  if (field.kind != ProtoField::Kind::kBytes) {
    add(integer(field));
    return;
  }
  for (ProtoReader packed = message(field); !packed.rest_.empty();) {
    add(static_cast<std::int64_t>(packed.varint()));
  }
}

}  // namespace stoker::detail
