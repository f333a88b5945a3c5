// Who issues credentials for a limited time, and how each is asked. Every reply is bounded in size
// and time and not trusted (credential_replies.h); redirects are not followed. A token is sent only
// where it passes no network in clear: by https, to this machine, or to the addresses that Amazon
// documents for machines and containers, which are asked without a proxy.
//
// An Error names the issuer and what to do. Any thread may call any function.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

#include "stoker/store/aws_credentials.h"
#include "stoker/store/store_options.h"

namespace stoker::detail {

// The role of a container: ECS, EKS Pod Identity.
struct ContainerRole {
  std::string relative_uri, full_uri;     // one of them
  std::string token = {};                 // of the authorization; may be empty
  std::filesystem::path token_file = {};  // read anew each time, instead of the token
};

// AssumeRoleWithWebIdentity of AWS's security token service.
struct WebIdentity {
  std::string endpoint;  // of the service
  std::string role_arn, session_name;
  std::filesystem::path token_file;  // read anew each time
};

// The instance metadata service of a cloud machine, version 2.
struct InstanceMetadata {
  std::string endpoint = "http://169.254.169.254";
};

// The single sign-on of AWS's tools: they have written a token, which buys credentials of a role.
struct SsoRole {
  std::string endpoint;  // of the portal
  std::string account, role, profile;
  std::filesystem::path token_file;
};

struct ProcessOfProfile {
  std::string command, profile;
};

// Few and short: these services are near, and what they say is needed before anything else.
[[nodiscard]] RetryOptions issuer_limits();

[[nodiscard]] IssuedCredentials issue(const ContainerRole& role, const RetryOptions& limits,
                                      const std::stop_token& stop);
[[nodiscard]] IssuedCredentials issue(const WebIdentity& identity, const RetryOptions& limits,
                                      const std::stop_token& stop);
[[nodiscard]] IssuedCredentials issue(const InstanceMetadata& service, const RetryOptions& limits,
                                      const std::stop_token& stop);
[[nodiscard]] IssuedCredentials issue(const SsoRole& role, const RetryOptions& limits,
                                      const std::stop_token& stop);
[[nodiscard]] IssuedCredentials issue(const ProcessOfProfile& process, const RetryOptions& limits,
                                      const std::stop_token& stop);

// The address of a container's credentials. Throws Error where it is not one of those above.
[[nodiscard]] std::string container_address(const ContainerRole& role);

}  // namespace stoker::detail
