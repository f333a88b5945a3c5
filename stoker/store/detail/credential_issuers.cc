#include "stoker/store/detail/credential_issuers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/store/detail/aws_profile.h"
#include "stoker/store/detail/credential_process.h"
#include "stoker/store/detail/credential_replies.h"
#include "stoker/store/detail/http_transfer.h"
#include "stoker/store/http_client.h"
#include "stoker/store/url.h"

namespace stoker::detail {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kMostTokenBytes = 32 * 1024;
// ECS; EKS Pod Identity.
constexpr std::array kContainerHosts = {"169.254.170.2", "169.254.170.23", "fd00:ec2::23"};
constexpr std::array kMetadataHosts = {"169.254.169.254", "fd00:ec2::254"};

struct Issuer {
  std::string name, hint;
};

// What goes wrong in `action` becomes an Error that names the issuer.
template <class Action>
IssuedCredentials issued_by(const Issuer& issuer, const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    const ErrorDetails& why = error.details();
    const std::string found = why.found.empty() ? why.what : why.found;
    throw Error({.what = "cannot get credentials for S3",
                 .path = issuer.name,
                 .expected = why.expected,
                 .found = why.path.empty() ? found : fmt::format("{} ({})", found, why.path),
                 .hint = issuer.hint});
  }
}

[[noreturn]] void fail_address(std::string expected, std::string found) {
  throw Error({.what = "cannot use the address",
               .expected = std::move(expected),
               .found = std::move(found)});
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char letter) { return letter > ' ' && letter < 0x7F; });
}

// A token as a file has it, without the line's end.
std::string token_in(const std::filesystem::path& path) {
  std::string token = read_small_file(path, kMostTokenBytes);
  while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
  if (!token.empty() && is_printable(token)) return token;
  throw Error({.what = "cannot use the token in a file",
               .path = path.string(),
               .found = "an empty file, or spaces or control characters in the token"});
}

// The body of a 2xx reply, after a few attempts.
std::string reply_to(HttpRequest request, const RetryOptions& limits, const std::stop_token& stop) {
  request.whole = limits.stall;
  request.stop = stop;
  const HttpClient client(limits);
  return with_retries(limits, "", stop, [&] {
    std::string body;
    const auto take = [&](std::span<const std::byte> bytes) {
      if (bytes.size() > kMostCredentialBytes - body.size()) {
        throw AttemptFailed("a reply of more than 64 KB", false);
      }
      body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    check_status(client.perform(request, ignore_head, take));
    return body;
  });
}

// Not through a proxy where the address is this machine's.
bool is_direct(const std::string& endpoint) { return is_loopback(parse_url(endpoint)); }

void check_endpoint(const std::string& endpoint, const char* variable) {
  if (may_take_secrets(parse_url(endpoint))) return;
  fail_address(fmt::format("https:// for a token ({})", variable), "http:// over a network");
}

std::string form_of(const WebIdentity& identity, const std::string& token) {
  return fmt::format(
      "Action=AssumeRoleWithWebIdentity&RoleArn={}&RoleSessionName={}&Version=2011-06-15"
      "&WebIdentityToken={}",
      percent_encoded(identity.role_arn, false), percent_encoded(identity.session_name, false),
      percent_encoded(token, false));
}

std::string metadata_endpoint(const InstanceMetadata& service) {
  const Url url = parse_url(service.endpoint);
  const bool known = std::ranges::find(kMetadataHosts, host_name(url)) != kMetadataHosts.end();
  if (url.scheme == "http" && (known || is_loopback(url))) return url.origin() + url.path;
  fail_address("http:// with 169.254.169.254, [fd00:ec2::254] or this machine", "another address");
}

// The one role of a machine, by a name as Amazon allows it.
std::string role_name(std::string reply) {
  reply.resize(std::min(reply.find('\n'), reply.size()));
  const bool allowed = std::ranges::all_of(reply, [](unsigned char letter) {
    return std::isalnum(letter) != 0 ||
           std::string_view("+=,.@_-").find(static_cast<char>(letter)) != std::string_view::npos;
  });
  if (!reply.empty() && reply.size() <= 128 && allowed) return reply;
  throw Error({.what = "cannot understand the reply", .found = "no name of a role"});
}

}  // namespace

RetryOptions issuer_limits() {
  return {.tries = 4,
          .first_wait = milliseconds(200),
          .longest_wait = milliseconds(2000),
          .connect = seconds(3),
          .stall = seconds(10)};
}

std::string container_address(const ContainerRole& role) {
  const std::string& part = role.relative_uri.empty() ? role.full_uri : role.relative_uri;
  if (!is_printable(part) || part.find_first_of("#@\\") != std::string::npos) {
    fail_address("an address of printable ASCII", "spaces, control bytes, #, @ or \\");
  }
  if (!role.relative_uri.empty()) {
    if (!role.relative_uri.starts_with('/')) fail_address("a path that begins with /", "none");
    return fmt::format("http://{}{}", kContainerHosts[0], role.relative_uri);
  }
  const Url url = parse_url(role.full_uri.substr(0, role.full_uri.find('?')));
  const bool known = std::ranges::find(kContainerHosts, host_name(url)) != kContainerHosts.end();
  if (may_take_secrets(url) || (url.scheme == "http" && known)) return role.full_uri;
  fail_address(
      "https://, or http:// with this machine, 169.254.170.2, 169.254.170.23 or "
      "[fd00:ec2::23]",
      "http:// with another host");
}

IssuedCredentials issue(const ContainerRole& role, const RetryOptions& limits,
                        const std::stop_token& stop) {
  const Issuer issuer{
      .name = role.relative_uri.empty()
                  ? "the container's role (AWS_CONTAINER_CREDENTIALS_FULL_URI)"
                  : "the container's role "
                    "(AWS_CONTAINER_CREDENTIALS_RELATIVE_URI)",
      .hint = "Check the role of the task or pod, and that the container may reach this address."};
  return issued_by(issuer, [&] {
    HttpRequest request{.url = container_address(role)};
    request.direct = request.url.starts_with("http://");
    const std::string token = role.token_file.empty() ? role.token : token_in(role.token_file);
    if (!is_printable(token)) fail_address("a token of printable ASCII", "another one");
    if (!token.empty()) request.headers.push_back("Authorization: " + token);
    return parse_json_credentials(reply_to(std::move(request), limits, stop),
                                  CredentialReply::kContainer);
  });
}

IssuedCredentials issue(const WebIdentity& identity, const RetryOptions& limits,
                        const std::stop_token& stop) {
  const Issuer issuer{.name = "the web identity (AWS_WEB_IDENTITY_TOKEN_FILE)",
                      .hint =
                          "Check AWS_ROLE_ARN, the token's file and which tokens the role trusts; "
                          "AWS_ENDPOINT_URL_STS names the service."};
  return issued_by(issuer, [&] {
    check_endpoint(identity.endpoint, "AWS_ENDPOINT_URL_STS");
    HttpRequest request{.method = "POST",
                        .url = identity.endpoint + "/",
                        .content = form_of(identity, token_in(identity.token_file)),
                        .direct = is_direct(identity.endpoint)};
    return parse_sts_credentials(reply_to(std::move(request), limits, stop));
  });
}

// Never without a session's token first: that is what keeps servers that can be made to fetch an
// address from handing out a machine's keys.
IssuedCredentials issue(const InstanceMetadata& service, const RetryOptions& limits,
                        const std::stop_token& stop) {
  const Issuer issuer{
      .name = "the instance metadata service (STOKER_S3_IMDS)",
      .hint =
          "Check that the machine has an instance profile and allows IMDSv2; in a container "
          "its hop limit must be at least 2."};
  return issued_by(issuer, [&] {
    const std::string root = metadata_endpoint(service);
    std::string token =
        reply_to({.method = "PUT",
                  .url = root + "/latest/api/token",
                  .headers = {"X-aws-ec2-metadata-token-ttl-seconds: 300", "Content-Type:"},
                  .content = "",
                  .direct = true},
                 limits, stop);
    if (token.empty() || !is_printable(token)) fail_address("a session's token", "another reply");
    const auto get = [&](const std::string& name) {
      return reply_to(
          {.url = fmt::format("{}/latest/meta-data/iam/security-credentials/{}", root, name),
           .headers = {"X-aws-ec2-metadata-token: " + token},
           .direct = true},
          limits, stop);
    };
    return parse_json_credentials(get(role_name(get(""))), CredentialReply::kMetadata);
  });
}

IssuedCredentials issue(const SsoRole& role, const RetryOptions& limits,
                        const std::stop_token& stop) {
  const Issuer issuer{.name = fmt::format("the single sign-on of profile {}", role.profile),
                      .hint = fmt::format("Run `aws sso login --profile {}`.", role.profile)};
  return issued_by(issuer, [&] {
    check_endpoint(role.endpoint, "AWS_ENDPOINT_URL_SSO");
    const SsoToken token = parse_sso_token(read_small_file(role.token_file, kMostCredentialBytes));
    if (token.expires <= std::chrono::system_clock::now()) {
      throw Error({.what = "cannot use the token", .found = "a token that has expired"});
    }
    HttpRequest request{
        .url = fmt::format("{}/federation/credentials?role_name={}&account_id={}", role.endpoint,
                           percent_encoded(role.role, false), percent_encoded(role.account, false)),
        .headers = {"x-amz-sso_bearer_token: " + token.token},
        .direct = is_direct(role.endpoint)};
    return parse_json_credentials(reply_to(std::move(request), limits, stop),
                                  CredentialReply::kSso);
  });
}

IssuedCredentials issue(const ProcessOfProfile& process, const RetryOptions&,
                        const std::stop_token& stop) {
  const Issuer issuer{
      .name = fmt::format("credential_process of profile {}", process.profile),
      .hint =
          "Run the command of the profile by hand: it must print AWS's JSON with \"Version\": 1 "
          "and end with 0."};
  return issued_by(issuer, [&] {
    return parse_json_credentials(output_of(split_command(process.command), {}, stop),
                                  CredentialReply::kProcess);
  });
}

}  // namespace stoker::detail
