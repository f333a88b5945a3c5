#include "stoker/store/aws.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "stoker/core/error.h"
#include "stoker/store/detail/aws_profile.h"
#include "stoker/store/detail/credential_chain.h"
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
  const detail::AwsProfile profile(environment);
  AwsSettings settings{.credentials = nullptr, .endpoint = {}};
  std::string region = profile.variable("AWS_REGION", "AWS_DEFAULT_REGION");
  if (region.empty()) region = profile.value("region");
  if (!region.empty()) settings.region = region;
  settings.credentials = detail::find_credentials(profile, settings.region);
  settings.endpoint = profile.variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL");
  return settings;
}

std::string aws_host(const std::string& service, const std::string& region) {
  const bool is_name = std::ranges::all_of(
      region, [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '-'; });
  if (region.empty() || !is_name) {
    throw Error({.what = "cannot use the region of S3",
                 .expected = "letters, digits and -, e.g. eu-north-1"});
  }
  return fmt::format("{}.{}.amazonaws.com{}", service, region,
                     region.starts_with("cn-") ? ".cn" : "");
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
