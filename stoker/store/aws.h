// What S3 asks for: who we are, and requests signed with it (Signature Version 4). Nothing of this
// is ever part of a message.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/core/environment.h"
#include "stoker/store/aws_credentials.h"

namespace stoker {

struct AwsSettings {
  std::shared_ptr<const AwsCredentialSource> credentials;  // nothing: requests are not signed
  std::string region = "us-east-1";
  std::string endpoint;  // empty: Amazon's
};

// Credentials as detail/credential_chain.h finds them, of the profile AWS_PROFILE, or default.
// Files: AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials), AWS_CONFIG_FILE (~/.aws/config). Region:
// AWS_REGION, AWS_DEFAULT_REGION, the profile's. Endpoint: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL.
// Throws Error where only half of the credentials are there. Nobody is asked for credentials yet.
[[nodiscard]] AwsSettings aws_settings(const Environment& environment = environment_variable);

// "sts.eu-north-1.amazonaws.com"
[[nodiscard]] std::string aws_host(const std::string& service, const std::string& region);

struct SignedRequest {
  std::string method;        // "GET"
  std::string host, path;    // the path as it is sent: encoded
  std::string query;         // as it is sent: encoded, sorted; may be empty
  std::string payload_hash;  // SHA-256 of the body in hex, or "UNSIGNED-PAYLOAD"
  std::string time;          // "20130524T000000Z"
};

// The headers to send, one "name: value" each, the Authorization among them. `more` are other
// headers to sign, with names in lower case.
[[nodiscard]] std::vector<std::string> sign_v4(const SignedRequest& request,
                                               const AwsCredentials& credentials,
                                               const std::string& region,
                                               const std::vector<std::string>& more = {});

[[nodiscard]] std::string sha256_hex(std::span<const std::byte> bytes);
[[nodiscard]] std::string sha256_hex_of_file(const std::filesystem::path& file);
// Now, as SignedRequest has it.
[[nodiscard]] std::string aws_time();

}  // namespace stoker
