// Bytes one after another, from memory or from gzip data in memory. One reader, one thread; the
// memory belongs to the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <zlib.h>

namespace stoker::detail {

class ByteReader {
 public:
  virtual ~ByteReader() = default;
  // Fills `out` and returns its size, or what is left where that is less.
  [[nodiscard]] virtual std::size_t read(std::span<std::uint8_t> out) = 0;
};

class PlainReader final : public ByteReader {
 public:
  explicit PlainReader(std::span<const std::byte> bytes) : rest_(bytes) {}
  [[nodiscard]] std::size_t read(std::span<std::uint8_t> out) override;

 private:
  std::span<const std::byte> rest_;
};

[[nodiscard]] bool looks_like_gzip(std::span<const std::byte> bytes) noexcept;

// Unpacks as it is read. Throws Error on damage, a failed checksum, an early end, and bytes after
// the last member that are no member themselves.
class GzipReader final : public ByteReader {
 public:
  GzipReader(std::span<const std::byte> bytes, std::string name);
  ~GzipReader() override;
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  [[nodiscard]] std::size_t read(std::span<std::uint8_t> out) override;

 private:
  void feed() noexcept;
  [[nodiscard]] std::uint64_t offset() const noexcept;  // of the next packed byte
  [[noreturn]] void fail(int status) const;

  std::span<const std::byte> bytes_;
  std::string name_;
  z_stream stream_{};
  bool member_ended_ = false;
};

}  // namespace stoker::detail
