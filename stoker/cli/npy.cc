#include "stoker/cli/npy.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

std::string header_text(const Batch& batch) {
  const auto [height, width, channels] = batch.image_shape();
  const bool floats = batch.pixel_type() == PixelType::kF32;
  const std::string shape =
      floats ? fmt::format("({}, {}, {}, {})", batch.size(), channels, height, width)
             : fmt::format("({}, {}, {}, {})", batch.size(), height, width, channels);
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
  std::ofstream file(path, std::ios::binary);
  const auto pixels = batch.pixels();
  file << prefix << header;
  file.write(reinterpret_cast<const char*>(pixels.data()),
             static_cast<std::streamsize>(pixels.size()));
  file.flush();
  if (!file) {
    throw Error({.what = "cannot write the batch",
                 .path = path.string(),
                 .found = std::strerror(errno),
                 .hint = "The folder must exist and have room"});
  }
}

}  // namespace stoker
