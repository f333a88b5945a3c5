// What the module's tests share: IDX and gzip bytes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <stdexcept>

#include <zlib.h>

#include "stoker/core/test_files.h"

namespace stoker {

// Big-endian words, then values.
inline Bytes idx_bytes(std::initializer_list<std::uint32_t> header, const Bytes& values = {}) {
  Bytes bytes;
  for (const std::uint32_t word : header) {
    for (const int shift : {24, 16, 8, 0})
      bytes.push_back(static_cast<std::uint8_t>(word >> shift));
  }
  bytes.insert(bytes.end(), values.begin(), values.end());
  return bytes;
}

inline Bytes labels_idx(const Bytes& labels) {
  return idx_bytes({0x801, static_cast<std::uint32_t>(labels.size())}, labels);
}

// n images of 2x3 whose values count up.
inline Bytes images_idx(std::uint32_t n) {
  Bytes values(n * 6);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i);
  return idx_bytes({0x803, n, 2, 3}, values);
}

inline Bytes gzip_bytes(const Bytes& plain) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2 failed");
  }
  Bytes packed(deflateBound(&stream, plain.size()));
  stream.next_in = const_cast<Bytef*>(plain.data());
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("deflate failed");
  return packed;
}

}  // namespace stoker
