// Zip archives as PyTorch writes them: records stored as they are, never compressed.
//
// Reading copies nothing: a record is a part of the archive's bytes. Records must not share a byte
// with each other or with the directory, so an archive cannot say that it holds more than it does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::detail {

struct ZipRecord {
  std::string_view name;
  std::span<const std::byte> bytes;
  std::uint64_t begin = 0;  // of its header in the archive
  std::uint32_t crc32 = 0;
};

class ZipArchive {
 public:
  // Throws Error where `bytes` is not such an archive. They must outlive this; `file` is for
  // messages. Checksums are left to check().
  ZipArchive(std::span<const std::byte> bytes, const std::string& file);

  // Sorted by name; no name comes twice.
  [[nodiscard]] const std::vector<ZipRecord>& records() const noexcept { return records_; }
  // nullptr where there is none of that name. Logarithmic.
  [[nodiscard]] const ZipRecord* find(std::string_view name) const noexcept;

 private:
  std::vector<ZipRecord> records_;
};

// Throws Error where the record's bytes do not have its checksum. 0 is not checked: PyTorch can be
// told not to compute any (torch.serialization.set_crc32_options).
void check_zip_record(const ZipRecord& record, std::span<const std::byte> archive,
                      const std::string& file);

// An archive to be written: headers[i] goes before the bytes of record i, `directory` after the
// last. Values begin at multiples of 64, so that a mapped file has aligned tensors.
struct ZipLayout {
  std::vector<std::string> headers;
  std::string directory;
};
struct ZipInput {
  std::string name;  // ASCII, less than 65,000 bytes
  std::span<const std::byte> bytes;
};
// Sizes and places from `zip64_from` on are written with 64 bits, which every reader must know;
// lower values are for tests.
[[nodiscard]] ZipLayout lay_out_zip(std::span<const ZipInput> records,
                                    std::uint64_t zip64_from = 0xFFFF'FFFF);

// Calls `write` with the archive's bytes, part by part.
template <class Write>
void write_zip(std::span<const ZipInput> records, Write&& write) {
  const ZipLayout layout = lay_out_zip(records);
  for (std::size_t i = 0; i < records.size(); ++i) {
    write(std::as_bytes(std::span(layout.headers[i])));
    write(records[i].bytes);
  }
  write(std::as_bytes(std::span(layout.directory)));
}

}  // namespace stoker::detail
