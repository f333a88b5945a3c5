// libFuzzer target: any bytes are either one whole IDX array or an Error, never anything else.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include <zlib.h>

#include "stoker/core/error.h"
#include "stoker/data/sources/idx.h"

namespace {

constexpr stoker::IdxLimits kLimits{.max_bytes = 1 << 22};

std::optional<stoker::IdxArray> try_parse(std::span<const std::byte> bytes) {
  try {
    return stoker::parse_idx(bytes, "fuzz", kLimits);
  } catch (const stoker::Error&) {
    return std::nullopt;
  }
}

void require(bool promise) {
  if (!promise) std::abort();
}

void check_array(const stoker::IdxArray& array) {
  require(array.values.size() == array.header.value_bytes);
  require(array.values.size() == array.header.count * array.header.shape.bytes());
  std::uint64_t sum = 0;  // touches every value, so that the sanitizer sees a wrong length
  for (const std::uint8_t value : array.values) sum += value;
  require(sum <= 255 * array.header.value_bytes);
}

std::vector<std::uint8_t> pack(std::span<const std::byte> bytes) {
  z_stream stream{};
  require(deflateInit2(&stream, 1, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::vector<std::uint8_t> packed(deflateBound(&stream, bytes.size()));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  require(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// Plain bytes and the same bytes packed must get the same verdict and the same values.
void check_packed(std::span<const std::byte> bytes, const std::optional<stoker::IdxArray>& plain) {
  const std::vector<std::uint8_t> packed = pack(bytes);
  const auto unpacked = try_parse(std::as_bytes(std::span(packed)));
  require(plain.has_value() == unpacked.has_value());
  if (plain) require(std::ranges::equal(plain->values, unpacked->values));
}

void check_source(std::span<const std::byte> images, std::span<const std::byte> labels) {
  const auto pixels = try_parse(images), classes = try_parse(labels);
  if (!pixels || !classes) return;
  try {
    const stoker::IdxSource source(*pixels, *classes);
    stoker::SampleBuffer buffer;
    const auto last = source.read(source.size() - 1, buffer).value();
    require(static_cast<std::size_t>(last.label) < source.class_names().size());
  } catch (const stoker::Error&) {  // the two do not belong together
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto array = try_parse(bytes);
  if (array) check_array(*array);
  const bool packed = size >= 2 && data[0] == 0x1F && data[1] == 0x8B;
  if (!packed) check_packed(bytes, array);
  if (size > 0) {  // the first byte says where the labels begin
    const std::size_t cut = std::min<std::size_t>(data[0], size - 1);
    check_source(bytes.subspan(1 + cut), bytes.subspan(1, cut));
  }
  return 0;
}
