#include "stoker/store/url.h"

#include <cctype>

#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {

Url parse_url(const std::string& text) {
  Url url;
  const std::size_t mark = text.find("://");
  const auto fail = [&](const char* found) {
    // Without what might be a secret.
    throw Error({.what = "cannot use this address",
                 .path = mark == std::string::npos ? "" : text.substr(0, mark + 3) + "…",
                 .expected = "SCHEME://HOST/PATH",
                 .found = found,
                 .hint = "Credentials are taken from the usual variables and files."});
  };
  if (mark == std::string::npos) fail("no scheme");
  url.scheme = text.substr(0, mark);
  if (text.find('@', mark) != std::string::npos) fail("a user name (@)");
  if (text.find_first_of("?#", mark) != std::string::npos) fail("a query or fragment (? or #)");
  for (const char letter : text) {
    if (static_cast<unsigned char>(letter) <= ' ' || letter == 0x7F)
      fail("spaces or control bytes");
  }
  const std::size_t slash = text.find('/', mark + 3);
  url.host = text.substr(mark + 3, slash == std::string::npos ? slash : slash - mark - 3);
  if (url.host.empty()) fail("no host");
  if (slash != std::string::npos) url.path = text.substr(slash);
  while (url.path.ends_with('/')) url.path.pop_back();
  const std::string_view own_port = url.scheme == "https" ? ":443" : ":80";
  if (url.host.ends_with(own_port)) url.host.resize(url.host.size() - own_port.size());
  return url;
}

std::string percent_encoded(std::string_view text, bool slashes) {
  std::string encoded;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool plain = byte < 0x80 && (std::isalnum(byte) != 0 ||
                                       std::string_view("-_.~").find(letter) != std::string::npos);
    if (plain || (letter == '/' && slashes)) {
      encoded += letter;
    } else {
      encoded += fmt::format("%{:02X}", byte);
    }
  }
  return encoded;
}

}  // namespace stoker
