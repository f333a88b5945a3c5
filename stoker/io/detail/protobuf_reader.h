// Protobuf's wire format, for reading files that nobody vouches for: each field lies within its
// message before anything of it is used, and nothing is copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::detail {

struct ProtoField {
  enum class Kind : std::uint8_t { kVarint, kFixed64, kBytes, kFixed32 };
  std::uint32_t number = 0;
  Kind kind = Kind::kVarint;
  std::uint64_t value = 0;                // of all kinds but kBytes
  std::span<const std::byte> bytes = {};  // of kBytes: a text, a message or packed numbers
};

class ProtoReader {
 public:
  // `whole` is the file, of which `message` is a part: by it a fault's byte is counted. `what` is
  // for messages, "the ONNX file". All must outlive this.
  ProtoReader(std::span<const std::byte> message, std::span<const std::byte> whole,
              const std::string& what, const std::string& file)
      : rest_(message), whole_(whole), what_(what), file_(file) {}

  // The next field; nothing at the end. Throws Error where it reaches beyond the message, its
  // number is 0, or it is a group, which no current writer makes.
  [[nodiscard]] std::optional<ProtoField> next();
  // A reader of what a field holds. Throws Error unless it is kBytes.
  [[nodiscard]] ProtoReader message(const ProtoField& field) const;
  [[nodiscard]] std::string_view text(const ProtoField& field) const;
  // Throws Error unless it is kVarint.
  [[nodiscard]] std::int64_t integer(const ProtoField& field) const;
  // A repeated integer, alone or packed; adds to `values`. Throws Error beyond `most` of them.
  void integers(const ProtoField& field, std::size_t most, std::vector<std::int64_t>& values) const;

  // Throws Error at the byte that is next.
  [[noreturn]] void fail(std::string expected, std::string found) const;

 private:
  [[nodiscard]] std::uint64_t varint();
  [[nodiscard]] std::uint64_t fixed(std::size_t bytes);

  std::span<const std::byte> rest_, whole_;
  const std::string& what_;
  const std::string& file_;
};

}  // namespace stoker::detail
