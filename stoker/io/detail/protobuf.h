// Protobuf's wire format, for writing: ONNX needs four kinds of fields in eight messages, which is
// less than the library's build step, and LibTorch carries symbols of its own copy of the library.
#pragma once

#include <bit>
#include <cstdint>
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
  void add_text(int field, std::string_view bytes) {
    add_varint(static_cast<std::uint64_t>(field) << 3 | kLengthDelimited);
    add_varint(bytes.size());
    bytes_ += bytes;
  }
  void add_message(int field, const ProtoMessage& message) { add_text(field, message.bytes_); }

  [[nodiscard]] const std::string& bytes() const& noexcept { return bytes_; }
  [[nodiscard]] std::string bytes() && noexcept { return std::move(bytes_); }

 private:
  enum WireType : std::uint64_t { kVarint = 0, kLengthDelimited = 2, kFixed32 = 5 };

  // Seven bits a byte, the lowest first; the top bit says that more follow.
  void add_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7F) | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

}  // namespace stoker::detail
