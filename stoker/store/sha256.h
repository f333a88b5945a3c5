// SHA-256 of bytes that come one after the other.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace stoker {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::span<const std::byte> bytes);
  // 64 digits; once, after which nothing can be added.
  [[nodiscard]] std::string hex_digest();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stoker
