// The parts of a URL, and names in URLs.
#pragma once

#include <string>
#include <string_view>

namespace stoker {

struct Url {
  std::string scheme;  // "http", "https", "s3"
  std::string host;    // with the port, where it is not the scheme's own
  std::string path;    // "" or from its first '/' on, without a last one; not decoded
  [[nodiscard]] std::string origin() const { return scheme + "://" + host; }
};

// Throws Error where there is no host, or a user, a query or a fragment: what may be a secret would
// be written wherever the address is.
[[nodiscard]] Url parse_url(const std::string& text);

// "127.0.0.1" and "::1" of "127.0.0.1:8000" and "[::1]:8000".
[[nodiscard]] std::string host_name(const Url& url);
// This machine: localhost, 127.0.0.0/8 as four numbers, ::1. No other spelling of an address.
[[nodiscard]] bool is_loopback(const Url& url);
// Whether a secret that is sent there passes no network in clear.
[[nodiscard]] bool may_take_secrets(const Url& url);

// Everything but letters, digits and -_.~ as %XX; '/' stays where `slashes`.
[[nodiscard]] std::string percent_encoded(std::string_view text, bool slashes);

}  // namespace stoker
