// Tar archives, as WebDataset's shards are: POSIX ustar, with pax records and GNU's long names when
// read. A member is a name and a part of the archive's bytes; nothing is ever unpacked, so a name
// leads nowhere. Archives are not trusted: checksums and lengths are checked, and links, devices,
// sparse members and names that leave their folder are refused.
//
// A TarReader belongs to one thread; memory or file belong to the caller (archive_bytes.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/shards/archive_bytes.h"

namespace stoker {

struct TarMember {
  std::string name;
  std::uint64_t offset = 0;  // of its bytes in the archive
  std::uint64_t size = 0;    // they lie inside it
};

class TarReader {
 public:
  // `archive` is for messages.
  TarReader(ArchiveBytes bytes, std::string archive);

  // The next regular file; folders are passed over. Nothing at the end: a block of zeros, or where
  // the bytes end between two members. Throws Error (archive, byte) for what is damaged or refused.
  [[nodiscard]] std::optional<TarMember> next();
  // The bytes of a member; valid until the next call of either.
  [[nodiscard]] std::span<const std::byte> content(const TarMember& member);

 private:
  // What records before a member say about it.
  struct Extension {
    std::optional<std::string> name;
    std::optional<std::uint64_t> size;
  };
  [[nodiscard]] std::string_view text(std::uint64_t offset, std::uint64_t length);
  void read_pax(std::string_view records, Extension& extension, bool global) const;
  [[nodiscard]] std::uint64_t number(std::uint64_t field, std::size_t length);
  [[nodiscard]] std::uint64_t content_end(std::uint64_t size) const;
  void check_header();
  [[nodiscard]] std::string short_name();
  [[noreturn]] void refuse(std::string found, std::string hint = {}) const;

  ArchiveBytes bytes_;
  std::string archive_;
  std::uint64_t at_ = 0;  // of the header under way
};

// The header of a member, 512 bytes: owner root, mode 0444, no time, so that the same images make
// the same bytes. Throws Error for a name over 100 bytes or a size of 8 GiB and more.
[[nodiscard]] std::string tar_header(std::string_view name, std::uint64_t size);
// Zeros from the end of a member of that size to the next header.
[[nodiscard]] std::string tar_padding(std::uint64_t size);
[[nodiscard]] std::string tar_end();

}  // namespace stoker
