#include "stoker/data/detail/byte_reader.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker::detail {
namespace {

constexpr int kGzipOnly = 16;  // added to the window bits: a gzip wrapper, no zlib or raw data

// zlib counts in 32 bits, files do not.
uInt clamp_to_uint(std::size_t size) noexcept {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

}  // namespace

std::size_t PlainReader::read(std::span<std::uint8_t> out) {
  const std::size_t size = std::min(out.size(), rest_.size());
  if (size > 0) std::memcpy(out.data(), rest_.data(), size);
  rest_ = rest_.subspan(size);
  return size;
}

bool looks_like_gzip(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1F} && bytes[1] == std::byte{0x8B};
}

GzipReader::GzipReader(std::span<const std::byte> bytes, std::string name)
    : bytes_(bytes), name_(std::move(name)) {
  // zlib's interface predates const; it only reads through next_in.
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes_.data()));
  const int status = inflateInit2(&stream_, MAX_WBITS + kGzipOnly);
  if (status != Z_OK) fail(status);
}

GzipReader::~GzipReader() { inflateEnd(&stream_); }

std::size_t GzipReader::read(std::span<std::uint8_t> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    feed();
    if (member_ended_) {
      if (stream_.avail_in == 0) break;
      inflateReset(&stream_);
      member_ended_ = false;
    }
    const uInt room = clamp_to_uint(out.size() - done);
    stream_.next_out = out.data() + done;
    stream_.avail_out = room;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    done += room - stream_.avail_out;
    if (status == Z_STREAM_END) {
      member_ended_ = true;
    } else if (status != Z_OK) {
      fail(status);
    }
  }
  return done;
}

void GzipReader::feed() noexcept { stream_.avail_in = clamp_to_uint(bytes_.size() - offset()); }

std::uint64_t GzipReader::offset() const noexcept {
  return static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(stream_.next_in) -
                                    bytes_.data());
}

void GzipReader::fail(int status) const {
  ErrorDetails details{.what = "cannot unpack gzip file", .path = name_, .offset = offset()};
  if (status == Z_BUF_ERROR) {  // no progress: the input has run out, since the output has room
    details.expected = "more compressed data";
    details.found = "the end of the file";
    details.hint = "The file is cut short, perhaps by a broken download: fetch it again.";
  } else if (status == Z_MEM_ERROR) {
    details.found = "no memory for zlib's window";
  } else {
    details.expected = "sound gzip data";
    details.found = stream_.msg != nullptr ? stream_.msg : fmt::format("zlib error {}", status);
    details.hint = "The file is damaged: fetch it again, or check it with gzip -t.";
  }
  throw Error(std::move(details));
}

}  // namespace stoker::detail
