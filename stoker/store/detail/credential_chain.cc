#include "stoker/store/detail/credential_chain.h"

#include <array>
#include <cctype>
#include <ctime>
#include <filesystem>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>

#include "stoker/core/error.h"
#include "stoker/store/aws.h"
#include "stoker/store/detail/credential_issuers.h"
#include "stoker/store/url.h"

namespace stoker::detail {
namespace {

using Source = std::shared_ptr<const AwsCredentialSource>;

// Names of variables below are those of the environment that the profile was read from.

// What is asked for when keys are needed. The parts make the key of shared_credentials(); a digest,
// because one of them may be a secret.
template <class From>
Source source_from(const From& from, const std::vector<std::string>& parts) {
  const std::string text = fmt::format("{}", fmt::join(parts, "\n"));
  return std::make_shared<AwsCredentialSource>(
      sha256_hex(std::as_bytes(std::span(text))),
      [from](const std::stop_token& stop) { return issue(from, issuer_limits(), stop); });
}

Source fixed_keys(const AwsCredentials& keys) {
  if (keys.key_id.empty() && keys.secret.empty()) return nullptr;
  check_credentials(keys);
  return std::make_shared<AwsCredentialSource>(keys);
}

Source keys_of_variables(const AwsProfile& profile) {
  return fixed_keys({profile.variable("AWS_ACCESS_KEY_ID"),
                     profile.variable("AWS_SECRET_ACCESS_KEY"),
                     profile.variable("AWS_SESSION_TOKEN")});
}

Source keys_of_section(AwsSection section) {
  return fixed_keys({section["aws_access_key_id"], section["aws_secret_access_key"],
                     section["aws_session_token"]});
}

[[noreturn]] void fail_profile(const AwsProfile& profile, std::string expected, std::string found,
                               std::string hint) {
  throw Error({.what = "cannot get credentials for S3",
               .path = "profile " + profile.name(),
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = std::move(hint)});
}

// A role that other credentials take is not known here; ignoring it would use others than AWS's
// tools do.
void refuse_assumed_role(const AwsProfile& profile) {
  const bool by_others =
      !profile.value("source_profile").empty() || !profile.value("credential_source").empty();
  if (profile.value("role_arn").empty() || !by_others) return;
  fail_profile(profile, "", "role_arn with source_profile or credential_source",
               "Such roles are not supported: use credential_process, or set the variables that "
               "`aws configure export-credentials --format env` prints.");
}

// "https://sts.eu-north-1.amazonaws.com", or what a variable says.
std::string service_endpoint(const AwsProfile& profile, const char* variable, const char* service,
                             const std::string& region) {
  std::string endpoint = profile.variable(variable, "AWS_ENDPOINT_URL");
  if (endpoint.empty()) return "https://" + aws_host(service, region);
  const Url url = parse_url(endpoint);
  return url.origin() + url.path;
}

Source web_identity(const AwsProfile& profile, const std::string& region) {
  const auto text_of = [&](const char* variable, const char* key) {
    const std::string value = profile.variable(variable);
    return value.empty() ? profile.value(key) : value;
  };
  const std::string file = text_of("AWS_WEB_IDENTITY_TOKEN_FILE", "web_identity_token_file");
  if (file.empty()) return nullptr;
  const std::string role = text_of("AWS_ROLE_ARN", "role_arn");
  std::string session = text_of("AWS_ROLE_SESSION_NAME", "role_session_name");
  if (role.empty()) {
    fail_profile(profile, "AWS_ROLE_ARN beside AWS_WEB_IDENTITY_TOKEN_FILE", "none", "");
  }
  const WebIdentity identity{
      .endpoint = service_endpoint(profile, "AWS_ENDPOINT_URL_STS", "sts", region),
      .role_arn = role,
      .session_name = session.empty() ? fmt::format("stoker-{}", std::time(nullptr)) : session,
      .token_file = file};
  return source_from(identity, {"web identity", identity.endpoint, role, session, file});
}

std::string sha1_hex(const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  ::EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  return fmt::format("{:02x}", fmt::join(std::span(digest).first(size), ""));
}

Source single_sign_on(const AwsProfile& profile, const std::string&) {
  const std::string session = profile.value("sso_session");
  const bool is_there = !session.empty() || !profile.value("sso_start_url").empty();
  if (!is_there) return nullptr;
  AwsSection values = session.empty() ? AwsSection{} : profile.section("sso-session " + session);
  const auto text_of = [&](const char* key) {
    const std::string value = session.empty() ? profile.value(key) : values[key];
    return value.empty() ? profile.value(key) : value;
  };
  const std::string start = text_of("sso_start_url"), region = text_of("sso_region");
  const std::string account = profile.value("sso_account_id");
  const std::string role_name = profile.value("sso_role_name");
  if (start.empty() || region.empty() || account.empty() || role_name.empty()) {
    fail_profile(profile, "sso_start_url, sso_region, sso_account_id and sso_role_name",
                 "not all of them", "Run `aws configure sso`.");
  }
  const std::filesystem::path folder =
      std::filesystem::path(profile.variable("HOME")) / ".aws" / "sso" / "cache";
  const SsoRole role{
      .endpoint = service_endpoint(profile, "AWS_ENDPOINT_URL_SSO", "portal.sso", region),
      .account = account,
      .role = role_name,
      .profile = profile.name(),
      .token_file = folder / (sha1_hex(session.empty() ? start : session) + ".json")};
  return source_from(role, {"single sign-on", role.endpoint, account, role_name, role.profile,
                            role.token_file.string()});
}

Source keys_of_credentials_file(const AwsProfile& profile, const std::string&) {
  return keys_of_section(profile.credentials());
}

Source process(const AwsProfile& profile, const std::string&) {
  const std::string command = profile.value("credential_process");
  if (command.empty()) return nullptr;
  return source_from(ProcessOfProfile{.command = command, .profile = profile.name()},
                     {"process", command, profile.name()});
}

Source keys_of_config(const AwsProfile& profile, const std::string&) {
  return keys_of_section(profile.config());
}

Source container(const AwsProfile& profile, const std::string&) {
  const ContainerRole role{
      .relative_uri = profile.variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"),
      .full_uri = profile.variable("AWS_CONTAINER_CREDENTIALS_FULL_URI"),
      .token = profile.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN"),
      .token_file = profile.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")};
  if (role.relative_uri.empty() && role.full_uri.empty()) return nullptr;
  return source_from(
      role, {"container", role.relative_uri, role.full_uri, role.token, role.token_file.string()});
}

// 1 or true, 0 or false; not set: false.
bool is_on(const AwsProfile& profile, const char* variable) {
  std::string value = profile.variable(variable);
  for (char& letter : value) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  if (value.empty() || value == "0" || value == "false") return false;
  if (value == "1" || value == "true") return true;
  throw Error({.what = fmt::format("cannot understand {}", variable), .expected = "0 or 1"});
}

Source instance_metadata(const AwsProfile& profile, const std::string&) {
  if (!is_on(profile, "STOKER_S3_IMDS") || is_on(profile, "AWS_EC2_METADATA_DISABLED")) {
    return nullptr;
  }
  InstanceMetadata service;
  const std::string endpoint = profile.variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  if (!endpoint.empty()) service.endpoint = endpoint;
  return source_from(service, {"instance metadata", service.endpoint});
}

}  // namespace

Source find_credentials(const AwsProfile& profile, const std::string& region) {
  if (Source source = keys_of_variables(profile)) return source;
  refuse_assumed_role(profile);
  for (const auto find : {web_identity, single_sign_on, keys_of_credentials_file, process,
                          keys_of_config, container, instance_metadata}) {
    if (Source source = find(profile, region)) return source;
  }
  return nullptr;
}

}  // namespace stoker::detail
