// What proves that somebody knows a secret: HMAC-SHA256. Without LibTorch.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stoker::detail {

inline constexpr std::size_t kProofBytes = 32;

// Of the label and the text. The label keeps apart what one secret is used for, so that a proof of
// one thing is none of another.
[[nodiscard]] std::string keyed_digest(std::string_view secret, std::string_view label,
                                       std::string_view text);

// Takes the same time wherever they differ, so that nobody can guess a proof byte by byte.
[[nodiscard]] bool is_same(std::string_view a, std::string_view b);

}  // namespace stoker::detail
