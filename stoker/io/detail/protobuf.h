// Protobuf's wire format, for writing: ONNX and TensorBoard's events need a few kinds of fields in
// a dozen messages, which is less than the library's build step, and LibTorch carries symbols of
// its own copy of the library.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace stoker::detail {

// A message as a list of fields, in the order in which they are added.
class ProtoMessage {
 public:
  void add_integer(int field, std::int64_t value) {
    add_varint(static_cast<std::uint64_t>(field) << 3 | kVarint);
    add_varint(static_cast<std::uint64_t>(value));  // negative ones take ten bytes
  }
  void add_float(int field, float value) {
    add_varint(static_cast<std::uint64_t>(field) << 3 | kFixed32);
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) bytes_ += static_cast<char>(bits >> shift & 0xFF);
  }
  void add_double(int field, double value) {
    add_varint(static_cast<std::uint64_t>(field) << 3 | kFixed64);
    add_bits(value);
  }
  // All values in one field.
  void add_doubles(int field, std::span<const double> values) {
    add_varint(static_cast<std::uint64_t>(field) << 3 | kLengthDelimited);
    add_varint(values.size() * sizeof(double));
    for (const double value : values) add_bits(value);
  }
  void add_text(int field, std::string_view bytes) {
    add_varint(static_cast<std::uint64_t>(field) << 3 | kLengthDelimited);
    add_varint(bytes.size());
    bytes_ += bytes;
  }
  void add_message(int field, const ProtoMessage& message) { add_text(field, message.bytes_); }

  [[nodiscard]] const std::string& bytes() const& noexcept { return bytes_; }
  [[nodiscard]] std::string bytes() && noexcept { return std::move(bytes_); }

 private:
  enum WireType : std::uint64_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

  void add_bits(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(bits >> shift & 0xFF);
  }
  // Seven bits a byte, the lowest first; the top bit says that more follow.
  void add_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7F) | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

}  // namespace stoker::detail
