#include "stoker/store/certificates.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <curl/curl.h>

namespace stoker {
namespace {

constexpr std::array kVariables = {"AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"};
constexpr std::array kPlaces = {"/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Arch
                                "/etc/pki/tls/certs/ca-bundle.crt",    // Fedora, RHEL
                                "/etc/ssl/ca-bundle.pem",              // openSUSE
                                "/etc/ssl/cert.pem"};                  // Alpine

bool is_there(const std::string& path) {
  std::error_code failed;
  return std::filesystem::exists(path, failed);
}

std::string curls_own() {
  const curl_version_info_data* info = curl_version_info(CURLVERSION_NOW);
  return info->cainfo == nullptr ? "" : info->cainfo;
}

}  // namespace

std::string certificate_file(const std::function<const char*(const char*)>& variable,
                             const std::function<bool(const std::string&)>& exists,
                             const std::string& own) {
  for (const char* name : kVariables) {
    const char* value = variable(name);
    if (value != nullptr && *value != '\0') return value;
  }
  if (own.empty() || exists(own)) return "";
  for (const char* place : kPlaces) {
    if (exists(place)) return place;
  }
  return "";
}

const std::string& certificate_file() {
  static const std::string file = certificate_file(
      [](const char* name) -> const char* { return std::getenv(name); }, is_there, curls_own());
  return file;
}

}  // namespace stoker
