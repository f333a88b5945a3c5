#include "stoker/store/aws.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "stoker/core/error.h"
#include "stoker/store/sha256.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string hmac(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned length = 0;
  ::HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), out.data(), &length);
  return {reinterpret_cast<const char*>(out.data()), length};
}

std::string trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0)
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
    text.remove_suffix(1);
  return std::string(text);
}

// "[section]" and "key = value" lines; nothing where the file is not there.
std::map<std::string, std::string> read_section(const fs::path& path, const std::string& section) {
  std::map<std::string, std::string> values;
  std::ifstream file(path);
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    line = trimmed(line);
    if (line.starts_with('[')) inside = line == fmt::format("[{}]", section);
    const std::size_t equals = line.find('=');
    if (!inside || equals == std::string::npos || line.starts_with('#')) continue;
    values[trimmed(line.substr(0, equals))] = trimmed(line.substr(equals + 1));
  }
  return values;
}

class Lookup {
 public:
  explicit Lookup(const Environment& environment) : environment_(environment) {
    profile_ = variable("AWS_PROFILE");
    if (profile_.empty()) profile_ = "default";
  }
  // The first of these that is set to something.
  [[nodiscard]] std::string variable(const char* name, const char* other = nullptr) const {
    std::string value = environment_(name).value_or("");
    return value.empty() && other != nullptr ? environment_(other).value_or("") : value;
  }
  [[nodiscard]] std::map<std::string, std::string> profile(const char* file_variable,
                                                           const char* usual, bool config) const {
    fs::path path = variable(file_variable);
    const std::string home = variable("HOME");
    if (path.empty() && home.empty()) return {};
    if (path.empty()) path = fs::path(home) / ".aws" / usual;
    return read_section(path, config && profile_ != "default" ? "profile " + profile_ : profile_);
  }

 private:
  const Environment& environment_;
  std::string profile_;
};

std::optional<AwsCredentials> find_credentials(const Lookup& lookup) {
  AwsCredentials found{lookup.variable("AWS_ACCESS_KEY_ID"),
                       lookup.variable("AWS_SECRET_ACCESS_KEY"),
                       lookup.variable("AWS_SESSION_TOKEN")};
  if (found.key_id.empty() && found.secret.empty()) {
    auto profile = lookup.profile("AWS_SHARED_CREDENTIALS_FILE", "credentials", false);
    found = {profile["aws_access_key_id"], profile["aws_secret_access_key"],
             profile["aws_session_token"]};
  }
  if (found.key_id.empty() && found.secret.empty()) return std::nullopt;
  if (found.key_id.empty() || found.secret.empty()) {
    throw Error({.what = "only half of the S3 credentials are set",
                 .expected = "both the access key id and the secret access key"});
  }
  return found;
}

}  // namespace

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 sha;
  sha.add(bytes);
  return sha.hex_digest();
}

std::string sha256_hex_of_file(const fs::path& path) {
  Sha256 sha;
  std::ifstream file(path, std::ios::binary);
  std::vector<char> piece(std::size_t{1} << 20);
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    sha.add(std::as_bytes(std::span(piece)).first(static_cast<std::size_t>(file.gcount())));
  }
  return sha.hex_digest();
}

std::string aws_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts)};
}

AwsSettings aws_settings(const Environment& environment) {
  const Lookup lookup(environment);
  AwsSettings settings{.credentials = find_credentials(lookup), .endpoint = {}};
  std::string region = lookup.variable("AWS_REGION", "AWS_DEFAULT_REGION");
  if (region.empty()) region = lookup.profile("AWS_CONFIG_FILE", "config", true)["region"];
  if (!region.empty()) settings.region = region;
  settings.endpoint = lookup.variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL");
  return settings;
}

std::vector<std::string> sign_v4(const SignedRequest& request, const AwsCredentials& credentials,
                                 const std::string& region, const std::vector<std::string>& more) {
  std::vector<std::string> headers = {"host:" + request.host,
                                      "x-amz-content-sha256:" + request.payload_hash,
                                      "x-amz-date:" + request.time};
  if (!credentials.session_token.empty()) {
    headers.push_back("x-amz-security-token:" + credentials.session_token);
  }
  headers.insert(headers.end(), more.begin(), more.end());
  std::ranges::sort(headers);
  std::vector<std::string> names;
  for (const std::string& header : headers) names.push_back(header.substr(0, header.find(':')));
  const std::string signed_names = fmt::format("{}", fmt::join(names, ";"));
  const std::string canonical =
      fmt::format("{}\n{}\n{}\n{}\n\n{}\n{}", request.method, request.path, request.query,
                  fmt::join(headers, "\n"), signed_names, request.payload_hash);
  const std::string day = request.time.substr(0, 8);
  const std::string scope = fmt::format("{}/{}/s3/aws4_request", day, region);
  const std::string to_sign = fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", request.time, scope,
                                          sha256_hex(std::as_bytes(std::span(canonical))));
  const std::string key =
      hmac(hmac(hmac(hmac("AWS4" + credentials.secret, day), region), "s3"), "aws4_request");
  headers.push_back(
      fmt::format("authorization:AWS4-HMAC-SHA256 Credential={}/{},SignedHeaders={},Signature={}",
                  credentials.key_id, scope, signed_names, hex(hmac(key, to_sign))));
  std::erase(headers, "host:" + request.host);  // the client sends it anyway
  return headers;
}

}  // namespace stoker
