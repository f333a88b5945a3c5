#include "stoker/data/identity_file.h"

#include <span>
#include <utility>
#include <vector>

#include <zlib.h>

#include "stoker/core/atomic_file.h"
#include "stoker/core/error.h"
#include "stoker/core/input_file.h"
#include "stoker/core/invariant.h"
#include "stoker/data/detail/byte_reader.h"

namespace stoker {
namespace {

// Packs a text piece by piece, so that no second copy of it lies in memory.
class Packer {
 public:
  explicit Packer(AtomicFile& out) : out_(out) {
    constexpr int kGzip = 15 + 16, kMemory = 8;
    // Level 1: lines repeat themselves so much that more effort gains little.
    const int status = ::deflateInit2(&stream_, 1, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY);
    STOKER_INVARIANT(status == Z_OK, "status={}", status);
  }
  ~Packer() { ::deflateEnd(&stream_); }
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;

  void add(std::string_view text) {
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    while (text.size() > kPiece) {
      pack(text.substr(0, kPiece), Z_NO_FLUSH);
      text.remove_prefix(kPiece);
    }
    pack(text, Z_FINISH);
  }

 private:
  void pack(std::string_view piece, int flush) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream_.avail_in = static_cast<uInt>(piece.size());
    do {
      stream_.next_out = buffer_.data();
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      const int status = ::deflate(&stream_, flush);
      STOKER_INVARIANT(status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR,
                       "status={}", status);
      out_.write(std::as_bytes(std::span(buffer_).first(buffer_.size() - stream_.avail_out)));
    } while (stream_.avail_out == 0);
  }

  AtomicFile& out_;
  z_stream stream_{};
  std::vector<std::uint8_t> buffer_ = std::vector<std::uint8_t>(std::size_t{1} << 16);
};

}  // namespace

void write_identity(const std::filesystem::path& path, const DataIdentity& identity) {
  AtomicFile file(path, "run's data identity");
  Packer(file).add(identity.text());
  file.commit();
}

std::optional<DataIdentity> read_identity(const std::filesystem::path& path) {
  try {
    const FileBytes file(path);
    if (!detail::looks_like_gzip(file.bytes())) return std::nullopt;
    detail::GzipReader reader(file.bytes(), path.string());
    std::string text;
    std::vector<std::uint8_t> buffer(std::size_t{1} << 16);
    while (const std::size_t got = reader.read(buffer)) {
      text.append(reinterpret_cast<const char*>(buffer.data()), got);
    }
    return DataIdentity(std::move(text));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace stoker
