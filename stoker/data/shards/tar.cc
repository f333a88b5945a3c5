#include "stoker/data/shards/tar.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/data/detail/table_text.h"

namespace stoker {
namespace {

constexpr std::uint64_t kBlock = 512;
// More than any writer makes; checked before anything is copied.
constexpr std::uint64_t kMaxName = 4096, kMaxRecords = 1 << 20;

// Fields of a header: where they begin, how long they are.
constexpr std::uint64_t kName = 0, kSize = 124, kChecksum = 148, kType = 156, kMagic = 257,
                        kPrefix = 345;
constexpr std::size_t kNameLength = 100, kSizeLength = 12, kChecksumLength = 8, kPrefixLength = 155;

std::string_view until_zero(std::string_view field) { return field.substr(0, field.find('\0')); }

std::string describe_type(char type) {
  switch (type) {
    case '1':
    case '2':
    case 'K':
      return "a link";
    case '3':
    case '4':
      return "a device";
    case '6':
      return "a pipe";
    case 'S':
      return "a sparse file";
    default:
      return fmt::format("a member of type {:#04x}", static_cast<unsigned char>(type));
  }
}

// The sum of all bytes, with the field of the sum itself as spaces.
std::uint64_t header_sum(std::string_view header) {
  std::uint64_t sum = kChecksumLength * ' ';
  for (std::uint64_t i = 0; i < kBlock; ++i) {
    if (i < kChecksum || i >= kChecksum + kChecksumLength)
      sum += static_cast<unsigned char>(header[i]);
  }
  return sum;
}

}  // namespace

TarReader::TarReader(ArchiveBytes bytes, std::string archive)
    : bytes_(std::move(bytes)), archive_(std::move(archive)) {}

std::span<const std::byte> TarReader::content(const TarMember& member) {
  return bytes_.part(member.offset, member.size);
}

void TarReader::refuse(std::string found, std::string hint) const {
  throw Error({.what = "cannot read the tar archive",
               .path = archive_,
               .offset = at_,
               .expected = "regular files with whole headers",
               .found = std::move(found),
               .hint = std::move(hint)});
}

// Valid until it is called again.
std::string_view TarReader::text(std::uint64_t offset, std::uint64_t length) {
  const auto bytes = bytes_.part(offset, length);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Octal digits, or, where the first bit is set, big-endian binary (GNU's for large files).
std::uint64_t TarReader::number(std::uint64_t field, std::size_t length) {
  std::string_view digits = text(at_ + field, length);
  if ((static_cast<unsigned char>(digits[0]) & 0x80) != 0) {
    std::uint64_t value = static_cast<unsigned char>(digits[0]) & 0x7F;
    for (const char digit : digits.substr(1)) {
      if (value >> 55 != 0) refuse("a number that is too large");
      value = value << 8 | static_cast<unsigned char>(digit);
    }
    return value;
  }
  digits = until_zero(digits);
  while (digits.starts_with(' ')) digits.remove_prefix(1);
  while (digits.ends_with(' ')) digits.remove_suffix(1);
  const auto value = detail::number_in<std::uint64_t>(digits, 8);
  if (!value) refuse("a number that is none");
  return *value;
}

void TarReader::check_header() {
  if (bytes_.size() - at_ < kBlock) {
    refuse(fmt::format("{} bytes where a header has 512", bytes_.size() - at_),
           "The archive is cut short.");
  }
  if (number(kChecksum, kChecksumLength) != header_sum(text(at_, kBlock))) {
    refuse("a header with a wrong checksum",
           "It is damaged, compressed or no tar archive; compressed shards have to be unpacked.");
  }
}

std::uint64_t TarReader::content_end(std::uint64_t size) const {
  const std::uint64_t content = at_ + kBlock;
  if (size > bytes_.size() - content) {
    refuse(fmt::format("a member of {} bytes where {} are left", size, bytes_.size() - content),
           "The archive is cut short or its header lies.");
  }
  // The padding of the last member may be missing.
  const std::uint64_t padded = (size + kBlock - 1) / kBlock * kBlock;
  return content + std::min<std::uint64_t>(padded, bytes_.size() - content);
}

// "27 path=some/long/name.jpg\n", the length counted from its own first digit.
void TarReader::read_pax(std::string_view records, Extension& extension, bool global) const {
  while (!records.empty() && records.front() != '\0') {
    const std::size_t space = records.find(' ');
    const auto length = detail::number_in<std::uint64_t>(records.substr(0, space));
    if (!length || *length <= space + 1 || *length > records.size() ||
        records[*length - 1] != '\n') {
      refuse("a pax record whose length is wrong");
    }
    const std::string_view record = records.substr(space + 1, *length - space - 2);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) refuse("a pax record without a value");
    const std::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
    if (key.starts_with("GNU.sparse")) refuse(describe_type('S'));
    if ((key == "path" || key == "size") && global) refuse("one name or size for all members");
    if (key == "path") extension.name = value;
    if (key == "size") {
      extension.size = detail::number_in<std::uint64_t>(value);
      if (!extension.size) refuse("a size that is no number");
    }
    records.remove_prefix(*length);
  }
}

std::string TarReader::short_name() {
  std::string name(until_zero(text(at_ + kName, kNameLength)));
  // GNU's old format keeps times where ustar keeps the first part of the name.
  if (text(at_ + kMagic, 6) != std::string_view("ustar\0", 6)) return name;
  const std::string_view prefix = until_zero(text(at_ + kPrefix, kPrefixLength));
  return prefix.empty() ? name : fmt::format("{}/{}", prefix, name);
}

std::optional<TarMember> TarReader::next() {
  Extension extension;
  while (at_ < bytes_.size()) {
    const bool is_end = std::ranges::all_of(text(at_, std::min(kBlock, bytes_.size() - at_)),
                                            [](char byte) { return byte == '\0'; });
    if (is_end) break;
    check_header();
    const char type = text(at_ + kType, 1).front();
    const bool about_another = type == 'x' || type == 'g' || type == 'L';
    std::uint64_t size = number(kSize, kSizeLength);
    if (!about_another && extension.size) size = *extension.size;
    const std::uint64_t end = content_end(size), content = at_ + kBlock;
    if (about_another && size > (type == 'L' ? kMaxName : kMaxRecords)) {
      refuse(fmt::format("{} bytes about the next member", size));
    }
    if (type == 'x' || type == 'g') read_pax(text(content, size), extension, type == 'g');
    if (type == 'L') extension.name = until_zero(text(content, size));
    const std::string name = extension.name.value_or(short_name());
    const bool folder = type == '5' || (type == '\0' && name.ends_with('/'));
    if (!about_another && !folder) {
      if (type != '0' && type != '\0') refuse(describe_type(type));
      if (name.size() > kMaxName || !detail::stays_inside(name)) {
        refuse("a name that is empty, too long, holds control characters or leaves its folder");
      }
      at_ = end;
      return TarMember{.name = name, .offset = content, .size = size};
    }
    if (folder) extension = {};
    at_ = end;
  }
  if (extension.name || extension.size) refuse("records about a member that does not come");
  at_ = bytes_.size();
  return std::nullopt;
}

std::string tar_header(std::string_view name, std::uint64_t size) {
  if (name.empty() || name.size() > kNameLength || size >= std::uint64_t{1} << 33) {
    throw Error({.what = "cannot write a member of a tar archive",
                 .path = std::string(name),
                 .expected = "a name of up to 100 bytes and less than 8 GiB",
                 .found = fmt::format("{} and {} bytes", name.size(), size)});
  }
  std::string header(kBlock, '\0');
  const auto put = [&](std::uint64_t field, std::string_view value) {
    std::memcpy(header.data() + field, value.data(), value.size());
  };
  put(kName, name);
  put(100, "0000444");
  put(108, "0000000");
  put(116, "0000000");
  put(kSize, fmt::format("{:011o}", size));
  put(136, "00000000000");
  put(kType, "0");
  put(kMagic, std::string_view("ustar\00000", 8));
  put(265, "root");
  put(297, "root");
  put(kChecksum, fmt::format("{:06o}", header_sum(header)));
  header[kChecksum + 7] = ' ';
  return header;
}

std::string tar_padding(std::uint64_t size) {
  return std::string((kBlock - size % kBlock) % kBlock, '\0');
}

std::string tar_end() { return std::string(2 * kBlock, '\0'); }

}  // namespace stoker
