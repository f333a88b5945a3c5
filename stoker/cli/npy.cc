#include "stoker/cli/npy.h"

#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/atomic_file.h"

namespace stoker {
namespace {

std::string header_text(const Batch& batch) {
  const bool floats = batch.pixel_type() == PixelType::kF32;
  const std::string shape =
      fmt::format("({}, {})", batch.size(), fmt::join(batch.layout().field("image").shape, ", "));
  return fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                     floats ? "<f4" : "|u1", shape);
}

}  // namespace

void write_npy(const std::filesystem::path& path, const Batch& batch) {
  // Magic, version, length of the header; the header is padded so that the values start at 64 n.
  std::string header = header_text(batch);
  constexpr std::size_t kPrefix = 10;
  header.append(63 - (kPrefix + header.size()) % 64, ' ');
  header += '\n';
  std::string prefix("\x93NUMPY\x01\x00", 8);
  prefix += static_cast<char>(header.size() & 0xFF);
  prefix += static_cast<char>(header.size() >> 8);
  const std::string head = prefix + header;
  AtomicFile file(path, "batch");
  file.write(std::as_bytes(std::span(head)));
  file.write(batch.pixels());
  file.commit();
}

}  // namespace stoker
