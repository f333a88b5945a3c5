// What S3 asks for: who we are, and requests signed with it (Signature Version 4). Nothing of this
// is ever part of a message.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/core/environment.h"

namespace stoker {

struct AwsCredentials {
  std::string key_id, secret, session_token;  // the last may be empty
};

struct AwsSettings {
  std::optional<AwsCredentials> credentials;  // nothing: requests are not signed
  std::string region = "us-east-1";
  std::string endpoint;  // empty: Amazon's
};

// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN; else the profile (AWS_PROFILE, or
// default) of AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials). Region: AWS_REGION,
// AWS_DEFAULT_REGION, the profile's in AWS_CONFIG_FILE (~/.aws/config). Endpoint:
// AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL. Throws Error where only half of the credentials are there.
[[nodiscard]] AwsSettings aws_settings(const Environment& environment = environment_variable);

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
