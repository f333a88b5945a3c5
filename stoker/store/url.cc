#include "stoker/store/url.h"

#include <cctype>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

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
                 .hint = "Credentials are taken from the usual variables and files, the query of "
                         "signed addresses from STOKER_SIGNED_URLS."});
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
  if (url.scheme.starts_with("http")) {  // a bucket's name keeps its letters
    for (char& letter : url.host) {
      letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
  }
  return url;
}

std::string host_name(const Url& url) {
  const std::string& host = url.host;
  if (const std::size_t end = host.find(']'); host.starts_with('[') && end != std::string::npos) {
    const bool whole = end + 1 == host.size() || host[end + 1] == ':';
    return whole ? host.substr(1, end - 1) : host;
  }
  return host.substr(0, host.find(':'));
}

bool is_loopback(const Url& url) {
  const std::string name = host_name(url);
  in_addr four{};
  in6_addr six{};
  if (::inet_pton(AF_INET, name.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  if (::inet_pton(AF_INET6, name.c_str(), &six) == 1) return IN6_IS_ADDR_LOOPBACK(&six);
  return name == "localhost";
}

bool may_take_secrets(const Url& url) {
  return url.scheme == "https" || (url.scheme == "http" && is_loopback(url));
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
