#include "stoker/store/detail/credential_issuers.h"

#include <cstdlib>

#include <fmt/chrono.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/store/test_http_server.h"

namespace stoker::detail {
namespace {

using testing::HasSubstr;
using testing::Not;

// "2126-…": in a hundred years, or a hundred years ago.
constexpr const char* kLater = "2126-11-18T20:00:00Z";
constexpr const char* kEarlier = "1996-11-18T20:00:00Z";

std::string json_keys(const std::string& more = "") {
  return fmt::format(R"({{"AccessKeyId":"ID","SecretAccessKey":"SECRET","Token":"TOKEN",)"
                     R"("Expiration":"{}"{}}})",
                     kLater, more);
}

TempFolder& folder_of_tokens() {
  static TempFolder folder;
  return folder;
}

std::filesystem::path token_file(const std::string& text) {
  static int number = 0;
  return folder_of_tokens().write(std::to_string(++number), {text.begin(), text.end()});
}

template <class From>
IssuedCredentials ask(const From& from) {
  return issue(from, quick_retries(), {});
}

// The message, which must have no secret in it.
template <class From>
std::string failure_of_issuer(const From& from) {
  const std::string message = message_of([&] { static_cast<void>(ask(from)); });
  EXPECT_THAT(message, HasSubstr("cannot get credentials for S3"));
  EXPECT_THAT(message, Not(HasSubstr("SECRET")));
  return message;
}

TEST(ContainerRole, SendsTheTokenOfItsFileAndReadsTheReply) {
  const TestHttpServer server(std::vector<TestReply>{{.status = 500}, {.body = json_keys()}});
  const IssuedCredentials issued = ask(ContainerRole{.relative_uri = "",
                                                     .full_uri = server.url() + "/v1/creds?a=b",
                                                     .token = "unused",
                                                     .token_file = token_file("file-token\n")});
  EXPECT_EQ(issued.keys.session_token, "TOKEN");
  const TestRequest asked = server.requests().at(1);
  EXPECT_EQ(asked.method + " " + asked.target, "GET /v1/creds?a=b");
  EXPECT_EQ(asked.header("authorization"), "file-token");
}

TEST(ContainerRole, IsAskedWithoutAProxy) {
  const TestHttpServer proxy(std::vector<TestReply>{{.body = json_keys()}});
  const TestHttpServer server(std::vector<TestReply>{{.body = json_keys()}});
  ::setenv("http_proxy", proxy.url().c_str(), 1);
  ::unsetenv("no_proxy");
  EXPECT_NO_THROW(static_cast<void>(ask(ContainerRole{"", server.url() + "/c"})));
  ::unsetenv("http_proxy");
  ::setenv("no_proxy", "127.0.0.1", 1);
  EXPECT_EQ(proxy.connections(), 0U);
}

TEST(ContainerRole, IsOnlyWhereATokenIsSafe) {
  const auto address = [](const std::string& relative, const std::string& full) {
    return container_address({.relative_uri = relative, .full_uri = full});
  };
  EXPECT_EQ(address("/v2/credentials/1", ""), "http://169.254.170.2/v2/credentials/1");
  EXPECT_EQ(address("/v2", "http://evil.example/"), "http://169.254.170.2/v2");
  for (const char* full : {"http://localhost:1/a", "http://127.0.0.1/a", "http://[::1]:8/a",
                           "https://host/a", "http://169.254.170.2/a",
                           "http://169.254.170.23/v1/credentials", "http://[fd00:ec2::23]/v1"}) {
    EXPECT_EQ(address("", full), full);
  }
  for (const char* full :
       {"http://host/a", "http://169.254.169.254/a", "http://169.254.170.2.evil.example/",
        "http://127.0.0.1@evil.example/", "http://127.0.0.1\\@evil.example/",
        "http://127.0.0.1:80#@evil.example/", "ftp://127.0.0.1/", "127.0.0.1", "http://a\nb/"}) {
    EXPECT_THROW(static_cast<void>(address("", full)), Error) << full;
  }
  for (const char* relative : {"v2", "@evil.example/", ".evil.example/", "//a b", "/a\nb"}) {
    EXPECT_THROW(static_cast<void>(address(relative, "")), Error) << relative;
  }
}

TEST(ContainerRole, NamesItselfWhenItFails) {
  const TestHttpServer server([](const TestRequest& request) -> TestReply {
    if (request.target == "/redirect") {
      return {.status = 302, .headers = {"Location: /keys"}, .body = "SECRET"};
    }
    if (request.target == "/large") return {.body = std::string(70'000, ' ') + json_keys()};
    if (request.target == "/broken") return {.body = "SECRET"};
    return {.status = 403, .body = "<Code>Denied</Code>SECRET"};
  });
  const auto failure = [&](const std::string& path, const std::filesystem::path& file = {}) {
    const std::string message = failure_of_issuer(ContainerRole{
        .relative_uri = "", .full_uri = server.url() + path, .token = "", .token_file = file});
    EXPECT_THAT(message, HasSubstr("AWS_CONTAINER_CREDENTIALS_FULL_URI"));
    return message;
  };
  EXPECT_THAT(failure("/x"), HasSubstr("HTTP status 403 (Denied)"));
  EXPECT_THAT(failure("/redirect"), HasSubstr("HTTP status 302"));
  EXPECT_THAT(failure("/large"), HasSubstr("more than 64 KB"));
  EXPECT_THAT(failure("/broken"), HasSubstr("no JSON object"));
  EXPECT_EQ(server.requests().size(), 4U);
  EXPECT_THAT(failure("/x", "/dev/null"), HasSubstr("no regular file (/dev/null)"));
  EXPECT_THAT(failure("/x", token_file("SECRET\r\nX-Evil: 1")), HasSubstr("control characters"));
  EXPECT_THAT(failure("/x", token_file("\n")), HasSubstr("an empty file"));
  EXPECT_EQ(server.requests().size(), 4U);
}

TEST(WebIdentity, IsSentInTheBodyOfARequest) {
  const std::string reply = fmt::format(
      "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>"
      "<AccessKeyId>ID</AccessKeyId><SecretAccessKey>SECRET</SecretAccessKey>"
      "<SessionToken>TOKEN</SessionToken><Expiration>{}</Expiration></Credentials>"
      "</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>",
      kLater);
  const TestHttpServer server(std::vector<TestReply>{{.status = 503}, {.body = reply}});
  const IssuedCredentials issued = ask(WebIdentity{.endpoint = server.url() + "/sts",
                                                   .role_arn = "arn:aws:iam::1:role/r",
                                                   .session_name = "me",
                                                   .token_file = token_file("to+ken")});
  EXPECT_EQ(issued.keys.key_id, "ID");
  const TestRequest asked = server.requests().at(1);
  EXPECT_EQ(asked.method + " " + asked.target, "POST /sts/");
  EXPECT_EQ(asked.header("content-type"), "application/x-www-form-urlencoded");
  EXPECT_EQ(asked.body,
            "Action=AssumeRoleWithWebIdentity&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr"
            "&RoleSessionName=me&Version=2011-06-15&WebIdentityToken=to%2Bken");
}

TEST(WebIdentity, NamesItselfWhenItFailsAndNeverGoesInClear) {
  const TestHttpServer server(
      std::vector<TestReply>{{.status = 400,
                              .body = "<ErrorResponse><Error><Code>InvalidIdentityToken</Code>"
                                      "<Message>SECRET</Message></Error></ErrorResponse>"}});
  const auto failure = [](const std::string& endpoint, const std::filesystem::path& file) {
    const std::string message = failure_of_issuer(WebIdentity{
        .endpoint = endpoint, .role_arn = "r", .session_name = "s", .token_file = file});
    EXPECT_THAT(message, HasSubstr("AWS_WEB_IDENTITY_TOKEN_FILE"));
    return message;
  };
  EXPECT_THAT(failure(server.url(), token_file("SECRET")),
              HasSubstr("HTTP status 400 (InvalidIdentityToken)"));
  EXPECT_THAT(failure(server.url(), folder_of_tokens().path() / "none"), HasSubstr("/none)"));
  EXPECT_THAT(failure("http://sts.example", token_file("SECRET")),
              HasSubstr("AWS_ENDPOINT_URL_STS"));
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST(InstanceMetadata, IsAskedForASessionsTokenFirst) {
  const TestHttpServer server([](const TestRequest& request) -> TestReply {
    if (request.target == "/latest/api/token") {
      return {.status = request.method == "PUT" ? 200 : 405, .body = "SESSION"};
    }
    if (request.header("x-aws-ec2-metadata-token") != "SESSION") return {.status = 401};
    if (request.target == "/latest/meta-data/iam/security-credentials/") {
      return {.body = "my-role\n"};
    }
    return {.body = json_keys(R"(,"Code":"Success")")};
  });
  EXPECT_EQ(ask(InstanceMetadata{server.url()}).keys.key_id, "ID");
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[0].method, "PUT");
  EXPECT_EQ(requests[0].header("x-aws-ec2-metadata-token-ttl-seconds"), "300");
  EXPECT_EQ(requests[0].header("content-length"), "0");
  EXPECT_EQ(requests[2].target, "/latest/meta-data/iam/security-credentials/my-role");
}

TEST(InstanceMetadata, OfVersion1IsNeverUsed) {
  const TestHttpServer server([](const TestRequest& request) -> TestReply {
    if (request.method == "PUT") return {.status = 404};
    return {.body = json_keys(R"(,"Code":"Success")")};
  });
  EXPECT_THAT(failure_of_issuer(InstanceMetadata{server.url()}), HasSubstr("HTTP status 404"));
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST(InstanceMetadata, IsNeverSoughtOnOtherHosts) {
  for (const char* endpoint : {"http://10.0.0.1", "http://metadata.example",
                               "https://169.254.169.254", "http://169.254.169.254.evil.example"}) {
    EXPECT_THAT(failure_of_issuer(InstanceMetadata{endpoint}), HasSubstr("STOKER_S3_IMDS"));
  }
}

TEST(InstanceMetadata, RefusesRolesThatLeadElsewhere) {
  for (const char* role : {"../../user-data", "", "a?b", "a b", "<html>"}) {
    const TestHttpServer server([&](const TestRequest& request) -> TestReply {
      if (request.method == "PUT") return {.body = "SESSION"};
      return {.body = role};
    });
    EXPECT_THAT(failure_of_issuer(InstanceMetadata{server.url()}), HasSubstr("no name of a role"));
    EXPECT_EQ(server.requests().size(), 2U);
  }
}

std::filesystem::path sso_file(const char* expires) {
  return token_file(fmt::format(R"({{"accessToken":"SECRET-SSO","expiresAt":"{}"}})", expires));
}

TEST(SingleSignOn, BuysCredentialsWithTheTokenOfTheCache) {
  const TestHttpServer server(std::vector<TestReply>{
      {.body = R"({"roleCredentials":{"accessKeyId":"ID","secretAccessKey":"SECRET",)"
               R"("sessionToken":"TOKEN","expiration":4000000000000}})"}});
  const IssuedCredentials issued = ask(SsoRole{.endpoint = server.url(),
                                               .account = "123",
                                               .role = "a role",
                                               .profile = "p",
                                               .token_file = sso_file(kLater)});
  EXPECT_EQ(issued.keys.key_id, "ID");
  const TestRequest asked = server.requests().at(0);
  EXPECT_EQ(asked.target, "/federation/credentials?role_name=a%20role&account_id=123");
  EXPECT_EQ(asked.header("x-amz-sso_bearer_token"), "SECRET-SSO");
}

TEST(SingleSignOn, SaysHowToLogInWhereTheTokenIsMissingExpiredOrRefused) {
  const TestHttpServer server(std::vector<TestReply>{{.status = 401}});
  for (const auto& [file, found] :
       {std::pair(sso_file(kEarlier), "a token that has expired"),
        std::pair(folder_of_tokens().path() / "none", "No such file"),
        std::pair(token_file("{}"), "no time"), std::pair(sso_file(kLater), "HTTP status 401")}) {
    const std::string message = failure_of_issuer(SsoRole{.endpoint = server.url(),
                                                          .account = "1",
                                                          .role = "r",
                                                          .profile = "work",
                                                          .token_file = file});
    EXPECT_THAT(message, HasSubstr("Run `aws sso login --profile work`"));
    EXPECT_THAT(message, HasSubstr(found));
  }
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST(ProcessOfProfile, GivesItsKeysOrNamesItself) {
  const auto script = token_file(
      "printf '%s' '{\"Version\":1,\"AccessKeyId\":\"ID\","
      "\"SecretAccessKey\":\"'\"$1\"'\"}'");
  const auto process = [&](const std::string& command) {
    return ProcessOfProfile{.command = command, .profile = "p"};
  };
  const std::string command = "sh \"" + script.string() + "\" ";
  EXPECT_EQ(ask(process(command + R"('S\\E')")).keys.secret, R"(S\E)");
  for (const char* wrong : {"'SECRET KEY'", "", "'unfinished SECRET"}) {
    const std::string message = failure_of_issuer(process(command + wrong));
    EXPECT_THAT(message, HasSubstr("credential_process of profile p"));
    EXPECT_THAT(message, Not(HasSubstr(script.string())));  // its arguments may be secrets
  }
}

}  // namespace
}  // namespace stoker::detail
