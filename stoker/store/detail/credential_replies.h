// What issuers of credentials answer, as text that is not trusted: nothing but the fields that are
// named here is looked at, and messages contain nothing of it. All functions throw Error.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/store/aws_credentials.h"

namespace stoker::detail {

inline constexpr std::size_t kMostCredentialBytes = 64 * 1024;

enum class CredentialReply {
  kContainer,  // AccessKeyId, SecretAccessKey, Token, Expiration
  kMetadata,   // the same with "Code": "Success"
  kProcess,    // the same with SessionToken and "Version": 1
  kSso,        // roleCredentials: accessKeyId, …, expiration in milliseconds
};

[[nodiscard]] IssuedCredentials parse_json_credentials(std::string_view json, CredentialReply kind);

// The reply to AssumeRoleWithWebIdentity.
[[nodiscard]] IssuedCredentials parse_sts_credentials(std::string_view xml);

struct SsoToken {
  std::string token;
  std::chrono::system_clock::time_point expires;
};

// A file of ~/.aws/sso/cache.
[[nodiscard]] SsoToken parse_sso_token(std::string_view json);

// "2026-11-18T20:00:00Z", with a fraction of a second or an offset such as +01:00; "UTC" for "Z" as
// AWS's tools once wrote. Years after 2200 are the year 2200. Nothing for another text or a time
// before 1970.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> parse_aws_time(
    std::string_view text);

}  // namespace stoker::detail
