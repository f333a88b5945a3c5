// A digest of bytes: 128 bits of XXH3, to find damage and differences, not to stop an attacker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "stoker/export.h"

namespace stoker {

class STOKER_API Digest {
 public:
  Digest();
  ~Digest();
  void add(std::span<const std::byte> bytes);
  // With its length, so that "ab","c" differs from "a","bc".
  void add_text(std::string_view text);
  [[nodiscard]] std::string hex() const;  // of all bytes so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Of these bytes alone.
[[nodiscard]] STOKER_API std::string digest_of(std::span<const std::byte> bytes);

// 64 bits of XXH3 in one call, for many small pieces.
[[nodiscard]] std::uint64_t digest64(std::span<const std::byte> bytes) noexcept;

}  // namespace stoker
