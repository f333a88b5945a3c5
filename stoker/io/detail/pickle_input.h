// The bytes of a pickle, each length checked before it is used, and how reading them fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "stoker/io/detail/pickle_opcodes.h"
#include "stoker/io/detail/torch_errors.h"

namespace stoker::detail {

class PickleInput {
 public:
  // `offset`: of the bytes in the file, for messages.
  PickleInput(std::span<const std::byte> bytes, const std::string& file, std::uint64_t offset);

  [[nodiscard]] std::size_t at() const noexcept { return at_; }
  // Messages name the place of the last opcode.
  Op take_opcode();
  std::span<const std::byte> take(std::size_t count);
  // Little-endian, at most 8 bytes.
  std::uint64_t take_unsigned(std::size_t count);
  // Without the line's end.
  std::string_view take_line();

  [[noreturn]] void fail(std::string expected, std::string found,
                         std::string_view hint = kDamagedTorchFile) const;
  // Something that a pickle may do and this reader never does.
  [[noreturn]] void refuse(const std::string& name) const;

 private:
  std::span<const std::byte> bytes_;
  const std::string& file_;
  std::uint64_t offset_;
  bool clipped_;  // longer than any pickle may be
  std::size_t at_ = 0, opcode_at_ = 0;
};

// "os.system", with nothing in it that a terminal would obey.
[[nodiscard]] std::string shown_name(std::string_view module, std::string_view name);

}  // namespace stoker::detail
