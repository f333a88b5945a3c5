#include "stoker/io/detail/zip_archive.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include "stoker/io/detail/text.h"
#include "stoker/io/detail/torch_errors.h"

namespace stoker::detail {
namespace {

constexpr std::uint64_t kLocalSignature = 0x04034B50, kCentralSignature = 0x02014B50;
constexpr std::uint64_t kEndSignature = 0x06054B50, kEnd64Signature = 0x06064B50;
constexpr std::uint64_t kLocatorSignature = 0x07064B50;
constexpr std::size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22;
constexpr std::size_t kEnd64Bytes = 56, kLocatorBytes = 20;
constexpr std::uint64_t kMax16 = 0xFFFF, kMax32 = 0xFFFF'FFFF;
constexpr std::uint64_t kEncrypted = 1, kSizesFollow = 8;         // bits of the flags
constexpr std::uint64_t kZip64Extra = 1, kPaddingExtra = 0x4246;  // "FB", as PyTorch has it
constexpr std::uint64_t kAlignment = 64;

// ---- Reading.

// Bytes of the archive, with checks of every place.
class ZipBytes {
 public:
  ZipBytes(std::span<const std::byte> bytes, const std::string& file)
      : bytes_(bytes), file_(file) {}

  [[nodiscard]] std::uint64_t size() const { return bytes_.size(); }
  [[nodiscard]] std::span<const std::byte> part(std::uint64_t at, std::uint64_t count,
                                                const char* what) const {
    if (at > size() || count > size() - at) {
      fail(std::min(at, size()), fmt::format("{} bytes of {}", count, what),
           "a place beyond the end of the file", kCutShort);
    }
    return bytes_.subspan(at, count);
  }
  [[noreturn]] void fail(std::uint64_t at, std::string expected, std::string found,
                         std::string_view hint = kDamagedTorchFile) const {
    fail_torch(file_, at, std::move(expected), std::move(found), hint);
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& file_;
};

// The little-endian number of `count` bytes at `at`, which lies in `bytes`.
std::uint64_t number(std::span<const std::byte> bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    value |= std::to_integer<std::uint64_t>(bytes[at + i]) << (8 * i);
  }
  return value;
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Directory {
  std::uint64_t records = 0, begin = 0, bytes = 0;
};

// The end record, behind which only a comment of at most 65,535 bytes may stand.
std::uint64_t find_end(const ZipBytes& zip, std::span<const std::byte> bytes) {
  const std::uint64_t longest = std::min<std::uint64_t>(bytes.size(), kEndBytes + kMax16);
  for (std::uint64_t tail = kEndBytes; tail <= longest; ++tail) {
    const std::uint64_t at = bytes.size() - tail;
    if (number(bytes, at, 4) == kEndSignature && number(bytes, at + 20, 2) == tail - kEndBytes) {
      return at;
    }
  }
  zip.fail(zip.size(), "the end of a zip archive", "the end of the file", kCutShort);
}

// Of an archive whose numbers do not fit into the end record, the larger one in front of it.
Directory read_directory64(const ZipBytes& zip, std::uint64_t end) {
  if (end < kLocatorBytes) zip.fail(end, "a zip64 locator", "the beginning of the file");
  const auto locator = zip.part(end - kLocatorBytes, kLocatorBytes, "a zip64 locator");
  if (number(locator, 0, 4) != kLocatorSignature) {
    zip.fail(end - kLocatorBytes, "a zip64 locator", "something else");
  }
  const std::uint64_t at = number(locator, 8, 8);
  const auto record = zip.part(at, kEnd64Bytes, "the zip64 end record");
  if (number(record, 0, 4) != kEnd64Signature || at + kEnd64Bytes > end - kLocatorBytes) {
    zip.fail(at, "a zip64 end record in front of its locator", "something else");
  }
  return {number(record, 32, 8), number(record, 48, 8), number(record, 40, 8)};
}

Directory read_directory(const ZipBytes& zip, std::span<const std::byte> bytes) {
  const std::uint64_t end = find_end(zip, bytes);
  const auto record = zip.part(end, kEndBytes, "the end record");
  if (number(record, 4, 2) != 0 || number(record, 6, 2) != 0) {
    zip.fail(end, "an archive in one file", "a part of one in several");
  }
  Directory found{number(record, 10, 2), number(record, 16, 4), number(record, 12, 4)};
  if (found.records == kMax16 || found.begin == kMax32 || found.bytes == kMax32) {
    found = read_directory64(zip, end);
  }
  if (found.begin > end || found.bytes > end - found.begin) {
    zip.fail(end, "the directory in front of the end record",
             fmt::format("{} bytes from byte {} on", found.bytes, found.begin));
  }
  // Each takes at least so much: a number that is too large asks for no memory.
  if (found.records > found.bytes / kCentralBytes) {
    zip.fail(end, fmt::format("records in a directory of {} bytes", found.bytes),
             fmt::format("{}", found.records));
  }
  return found;
}

// What the directory says about a record.
struct Entry {
  std::string_view name;
  std::uint64_t begin = 0, size = 0;
  std::uint64_t flags = 0, crc32 = 0;
  std::uint64_t at = 0;  // of the entry itself
};

// The 64-bit value of a field whose 32 bits are all set: the next of the zip64 extra.
void widen(std::uint64_t* field, std::span<const std::byte>* wide, const ZipBytes& zip,
           std::uint64_t at) {
  if (*field != kMax32) return;
  if (wide->size() < 8) zip.fail(at, "a size of 64 bits in the zip64 field", "none");
  *field = number(*wide, 0, 8);
  *wide = wide->subspan(8);
}

std::span<const std::byte> find_extra(std::span<const std::byte> extra, std::uint64_t id) {
  while (extra.size() >= 4) {
    const std::uint64_t length = number(extra, 2, 2);
    if (length > extra.size() - 4) break;
    if (number(extra, 0, 2) == id) return extra.subspan(4, length);
    extra = extra.subspan(4 + length);
  }
  return {};
}

void check_stored(const ZipBytes& zip, const Entry& entry, std::uint64_t method,
                  std::uint64_t compressed) {
  if ((entry.flags & kEncrypted) != 0) {
    zip.fail(entry.at, "records that are not encrypted", printable(entry.name));
  }
  if (method != 0 || compressed != entry.size) {
    zip.fail(entry.at, "records that are stored as they are",
             fmt::format("{} compressed", printable(entry.name)),
             "torch.save never compresses: was the archive packed again, or is it a TorchScript "
             "program? Save the state_dict with torch.save.");
  }
}

// The entry at `at` of the directory, and where the next one begins.
Entry read_entry(const ZipBytes& zip, std::uint64_t* at) {
  const auto fixed = zip.part(*at, kCentralBytes, "the archive's directory");
  if (number(fixed, 0, 4) != kCentralSignature) {
    zip.fail(*at, "an entry of the archive's directory", "something else");
  }
  const std::uint64_t name_bytes = number(fixed, 28, 2), extra_bytes = number(fixed, 30, 2);
  const auto name = zip.part(*at + kCentralBytes, name_bytes, "a record's name");
  const auto extra = zip.part(*at + kCentralBytes + name_bytes, extra_bytes, "a record's fields");
  Entry entry{.name = as_text(name),
              .begin = number(fixed, 42, 4),
              .size = number(fixed, 24, 4),
              .flags = number(fixed, 8, 2),
              .crc32 = number(fixed, 16, 4),
              .at = *at};
  std::uint64_t compressed = number(fixed, 20, 4);
  auto wide = find_extra(extra, kZip64Extra);
  widen(&entry.size, &wide, zip, *at);
  widen(&compressed, &wide, zip, *at);
  widen(&entry.begin, &wide, zip, *at);
  check_stored(zip, entry, number(fixed, 10, 2), compressed);
  *at += kCentralBytes + name_bytes + extra_bytes + number(fixed, 32, 2);
  return entry;
}

// Finds the values behind the record's own header, which must say the same as the directory.
ZipRecord read_record(const ZipBytes& zip, const Entry& entry, std::uint64_t directory) {
  const auto fixed = zip.part(entry.begin, kLocalBytes, "a record's header");
  const std::uint64_t name_bytes = number(fixed, 26, 2), extra_bytes = number(fixed, 28, 2);
  const auto name = zip.part(entry.begin + kLocalBytes, name_bytes, "a record's name");
  if (number(fixed, 0, 4) != kLocalSignature || as_text(name) != entry.name) {
    zip.fail(entry.begin, fmt::format("the header of {}", printable(entry.name)), "something else");
  }
  const bool sizes_follow = (number(fixed, 6, 2) & kSizesFollow) != 0;
  const std::uint64_t size = number(fixed, 22, 4);
  if (number(fixed, 8, 2) != 0 || (!sizes_follow && size != entry.size && size != kMax32)) {
    zip.fail(entry.begin, fmt::format("{} bytes of {}", entry.size, printable(entry.name)),
             "another size or method in front of them");
  }
  const std::uint64_t begin = entry.begin + kLocalBytes + name_bytes + extra_bytes;
  if (begin > directory || entry.size > directory - begin) {
    zip.fail(
        entry.at,
        fmt::format("{} in front of the directory at byte {}", printable(entry.name), directory),
        fmt::format("{} bytes from byte {} on", entry.size, begin), kDamagedTorchFile);
  }
  return {.name = entry.name,
          .bytes = zip.part(begin, entry.size, "a record"),
          .begin = entry.begin,
          .crc32 = static_cast<std::uint32_t>(entry.crc32)};
}

void check_apart(const ZipBytes& zip, std::vector<ZipRecord>& records, const std::byte* base) {
  std::ranges::sort(records, {}, &ZipRecord::begin);
  for (std::size_t i = 1; i < records.size(); ++i) {
    const ZipRecord& before = records[i - 1];
    const auto end = static_cast<std::uint64_t>(before.bytes.data() - base) + before.bytes.size();
    if (records[i].begin >= end) continue;
    zip.fail(records[i].begin,
             fmt::format("{} behind {}, which ends at byte {}", printable(records[i].name),
                         printable(before.name), end),
             "that they overlap");
  }
}

void sort_names(const ZipBytes& zip, std::vector<ZipRecord>& records) {
  std::ranges::sort(records, {}, [](const ZipRecord& r) { return std::pair(r.name, r.begin); });
  const auto twice = std::ranges::adjacent_find(records, {}, &ZipRecord::name);
  if (twice == records.end()) return;
  zip.fail(twice->begin, "each name once", fmt::format("{} twice", printable(twice->name)));
}

// ---- Writing.

void append(std::string* out, std::uint64_t value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) *out += static_cast<char>(value >> (8 * i) & 0xFF);
}

struct Placed {
  const ZipInput& input;
  std::uint64_t begin = 0;
  std::uint32_t crc32 = 0;
  bool wide_size = false, wide_begin = false;
};

// What local header and directory have in common, from the version on.
std::string shared_fields(const Placed& record, std::size_t extra_bytes) {
  constexpr std::uint64_t kFirstOfJanuary1980 =
      0x21;  // no clock in the file: the same bytes always
  const std::uint64_t size = record.wide_size ? kMax32 : record.input.bytes.size();
  std::string out;
  append(&out, record.wide_size || record.wide_begin ? 45 : 20, 2);
  append(&out, 0, 2);  // flags
  append(&out, 0, 2);  // stored
  append(&out, 0, 2);  // midnight
  append(&out, kFirstOfJanuary1980, 2);
  append(&out, record.crc32, 4);
  append(&out, size, 4);
  append(&out, size, 4);
  append(&out, record.input.name.size(), 2);
  append(&out, extra_bytes, 2);
  return out;
}

std::string wide_fields(const Placed& record, bool with_begin) {
  std::string values;
  if (record.wide_size) {
    append(&values, record.input.bytes.size(), 8);
    append(&values, record.input.bytes.size(), 8);
  }
  if (with_begin && record.wide_begin) append(&values, record.begin, 8);
  if (values.empty()) return values;
  std::string out;
  append(&out, kZip64Extra, 2);
  append(&out, values.size(), 2);
  return out + values;
}

std::string local_header(const Placed& record) {
  std::string extra = wide_fields(record, false);
  const std::uint64_t end = record.begin + kLocalBytes + record.input.name.size() + extra.size();
  // The padding is a field of its own, which takes four bytes at least.
  const std::uint64_t padding = 4 + (kAlignment - (end + 4) % kAlignment) % kAlignment;
  append(&extra, kPaddingExtra, 2);
  append(&extra, padding - 4, 2);
  extra.append(padding - 4, '\0');
  std::string out;
  append(&out, kLocalSignature, 4);
  return out + shared_fields(record, extra.size()) + record.input.name + extra;
}

std::string central_header(const Placed& record) {
  const std::string extra = wide_fields(record, true);
  std::string out;
  append(&out, kCentralSignature, 4);
  append(&out, 45, 2);  // made by: version 4.5, on no particular system
  out += shared_fields(record, extra.size());
  out.append(10, '\0');  // comment, disk, attributes
  append(&out, record.wide_begin ? kMax32 : record.begin, 4);
  return out + record.input.name + extra;
}

std::string end_records(std::uint64_t records, std::uint64_t begin, std::uint64_t bytes,
                        std::uint64_t zip64_from) {
  std::string out;
  const bool wide =
      records >= std::min(kMax16, zip64_from) || begin >= zip64_from || bytes >= zip64_from;
  if (wide) {
    append(&out, kEnd64Signature, 4);
    append(&out, kEnd64Bytes - 12, 8);
    append(&out, 45, 2);
    append(&out, 45, 2);
    append(&out, 0, 8);  // disks
    for (const std::uint64_t value : {records, records, bytes, begin}) append(&out, value, 8);
    append(&out, kLocatorSignature, 4);
    append(&out, 0, 4);  // disk
    append(&out, begin + bytes, 8);
    append(&out, 1, 4);  // disks
  }
  append(&out, kEndSignature, 4);
  append(&out, 0, 4);  // disks
  append(&out, wide ? kMax16 : records, 2);
  append(&out, wide ? kMax16 : records, 2);
  append(&out, wide ? kMax32 : bytes, 4);
  append(&out, wide ? kMax32 : begin, 4);
  append(&out, 0, 2);  // comment
  return out;
}

std::uint32_t crc32_of(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

ZipArchive::ZipArchive(std::span<const std::byte> bytes, const std::string& file) {
  const ZipBytes zip(bytes, file);
  const Directory directory = read_directory(zip, bytes);
  records_.reserve(directory.records);
  std::uint64_t at = directory.begin;
  for (std::uint64_t i = 0; i < directory.records; ++i) {
    const Entry entry = read_entry(zip, &at);
    records_.push_back(read_record(zip, entry, directory.begin));
  }
  if (at != directory.begin + directory.bytes) {
    zip.fail(at, fmt::format("the directory's end at byte {}", directory.begin + directory.bytes),
             "it elsewhere");
  }
  check_apart(zip, records_, bytes.data());
  sort_names(zip, records_);
}

const ZipRecord* ZipArchive::find(std::string_view name) const noexcept {
  const auto found = std::ranges::lower_bound(records_, name, {}, &ZipRecord::name);
  return found == records_.end() || found->name != name ? nullptr : &*found;
}

void check_zip_record(const ZipRecord& record, std::span<const std::byte> archive,
                      const std::string& file) {
  if (record.crc32 == 0) return;
  const std::uint32_t found = crc32_of(record.bytes);
  if (found == record.crc32) return;
  fail_torch(file, static_cast<std::uint64_t>(record.bytes.data() - archive.data()),
             fmt::format("{} with the checksum {:08x}", printable(record.name), record.crc32),
             fmt::format("{:08x}", found), kDamagedTorchFile);
}

ZipLayout lay_out_zip(std::span<const ZipInput> records, std::uint64_t zip64_from) {
  ZipLayout layout;
  std::uint64_t at = 0;
  std::string directory;
  for (const ZipInput& input : records) {
    const Placed record{.input = input,
                        .begin = at,
                        .crc32 = crc32_of(input.bytes),
                        .wide_size = input.bytes.size() >= zip64_from,
                        .wide_begin = at >= zip64_from};
    layout.headers.push_back(local_header(record));
    directory += central_header(record);
    at += layout.headers.back().size() + input.bytes.size();
  }
  layout.directory = directory + end_records(records.size(), at, directory.size(), zip64_from);
  return layout;
}

}  // namespace stoker::detail
