/// \file
/// Result<T>: a value, or the details of why there is none. Shaped like C++23's std::expected, for
/// failures after which the caller goes on, such as one image that cannot be decoded.
#pragma once

#include <utility>
#include <variant>

#include "stoker/core/error.h"

namespace stoker {

/// A value, or why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit as in std
  Result(ErrorDetails error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /// The value; throws the error as an Error where there is none.
  [[nodiscard]] T& value() & {
    throw_if_error();
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] T&& value() && {
    throw_if_error();
    return std::move(*std::get_if<0>(&state_));
  }
  [[nodiscard]] T* operator->() { return &value(); }
  [[nodiscard]] T& operator*() & { return value(); }

  [[nodiscard]] const ErrorDetails& error() const {
    if (has_value()) throw InvariantError("error() of a Result that holds a value");
    return *std::get_if<1>(&state_);
  }

 private:
  void throw_if_error() const {
    if (!has_value()) throw Error(*std::get_if<1>(&state_));
  }
  std::variant<T, ErrorDetails> state_;
};

}  // namespace stoker
