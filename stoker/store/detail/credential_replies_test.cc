#include "stoker/store/detail/credential_replies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker::detail {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kEvening = 1'795'032'000;  // 2026-11-18T20:00:00Z, by `date`

std::int64_t seconds_of(std::string_view text) {
  const auto time = parse_aws_time(text);
  return time ? std::chrono::floor<std::chrono::seconds>(time->time_since_epoch()).count() : -1;
}

TEST(AwsTime, IsReadInTheFormsThatAwsWrites) {
  EXPECT_EQ(seconds_of("2026-11-18T20:00:00Z"), kEvening);
  EXPECT_EQ(seconds_of("2026-11-18T20:00:00.123456Z"), kEvening);
  EXPECT_EQ(seconds_of("2026-11-18T20:00:00UTC"), kEvening);
  EXPECT_EQ(seconds_of("2026-11-18T21:30:00+01:30"), kEvening);
  EXPECT_EQ(seconds_of("2026-11-18T12:00:00-08:00"), kEvening);
  EXPECT_EQ(seconds_of("9999-12-31T23:59:59Z"), seconds_of("2200-01-01T00:00:00Z"));
  EXPECT_GT(seconds_of("9599-11-18T20:00:00Z"), kEvening);
  for (const char* wrong :
       {"", "2026-11-18", "2026-11-18T20:00:00", "2026-02-30T20:00:00Z", "2026-11-18T24:00:00Z",
        "2026-11-18T20:60:00Z", "2026-11-18T20:00:00Zx", "2026-11-18 20:00:00Z", "20261118T200000Z",
        "2026-13-18T20:00:00Z", "1969-12-31T23:59:59Z", "x026-11-18T20:00:00Z",
        "2026-11-18T20:00:00+0100"}) {
    EXPECT_FALSE(parse_aws_time(wrong)) << wrong;
  }
}

void expect_keys(const IssuedCredentials& issued) {
  EXPECT_EQ(issued.keys.key_id, "ID");
  EXPECT_EQ(issued.keys.secret, "SECRET");
  EXPECT_EQ(issued.keys.session_token, "TOKEN");
  ASSERT_TRUE(issued.expires);
  EXPECT_EQ(std::chrono::floor<std::chrono::seconds>(issued.expires->time_since_epoch()).count(),
            kEvening);
}

TEST(CredentialReplies, OfEveryIssuerAreRead) {
  expect_keys(parse_json_credentials(
      R"({"AccessKeyId":"ID","SecretAccessKey":"SECRET","Token":"TOKEN",
          "Expiration":"2026-11-18T20:00:00Z","RoleArn":"x"})",
      CredentialReply::kContainer));
  expect_keys(parse_json_credentials(
      R"({"Code":"Success","AccessKeyId":"ID","SecretAccessKey":"SECRET","Token":"TOKEN",
          "Expiration":"2026-11-18T20:00:00Z"})",
      CredentialReply::kMetadata));
  expect_keys(parse_json_credentials(
      R"({"Version":1,"AccessKeyId":"ID","SecretAccessKey":"SECRET","SessionToken":"TOKEN",
          "Expiration":"2026-11-18T20:00:00Z"})",
      CredentialReply::kProcess));
  expect_keys(parse_json_credentials(
      R"({"roleCredentials":{"accessKeyId":"ID","secretAccessKey":"SECRET",
          "sessionToken":"TOKEN","expiration":1795032000000}})",
      CredentialReply::kSso));
  expect_keys(parse_sts_credentials(
      "<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">"
      "<AssumeRoleWithWebIdentityResult><Audience>a</Audience><Credentials>"
      "<AccessKeyId>ID</AccessKeyId><SecretAccessKey>SECRET</SecretAccessKey>"
      "<SessionToken>TOKEN</SessionToken><Expiration>2026-11-18T20:00:00Z</Expiration>"
      "</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"));
  const SsoToken token = parse_sso_token(
      R"({"accessToken":"TOKEN","expiresAt":"2026-11-18T20:00:00UTC","region":"x"})");
  EXPECT_EQ(token.token, "TOKEN");
}

TEST(CredentialReplies, OfAProcessMayHaveNoEnd) {
  const IssuedCredentials issued = parse_json_credentials(
      R"({"Version":1,"AccessKeyId":"ID","SecretAccessKey":"SECRET"})", CredentialReply::kProcess);
  EXPECT_EQ(issued.keys.session_token, "");
  EXPECT_FALSE(issued.expires);
}

TEST(CredentialReplies, ThatAreWrongAreRefusedWithoutRepeatingThem) {
  const auto refuse = [](const auto& parse) {
    EXPECT_THAT(message_of([&] { static_cast<void>(parse()); }), Not(HasSubstr("SECRET")));
  };
  const std::string keys = R"("AccessKeyId":"ID","SecretAccessKey":"SECRET")";
  for (const std::string& text :
       {std::string(), std::string("SECRET"), std::string("[]"), std::string("{}"),
        std::string(R"({"AccessKeyId":"SECRET"})"), "{" + keys,
        std::string(R"({"AccessKeyId":1,"SecretAccessKey":"SECRET"})"),
        "{" + keys + R"(,"Expiration":"SECRET"})", "{" + keys + R"(,"Expiration":7})",
        "{" + keys + R"(,"Token":"SECRET\r\nX-Evil: 1"})", "{" + keys + R"(,"Token":["SECRET"]})",
        std::string(70'000, '{')}) {
    refuse([&] { return parse_json_credentials(text, CredentialReply::kContainer); });
  }
  refuse([&] { return parse_json_credentials("{" + keys + "}", CredentialReply::kProcess); });
  refuse([&] {
    return parse_json_credentials("{\"Version\":2," + keys + "}", CredentialReply::kProcess);
  });
  refuse([&] { return parse_json_credentials("{" + keys + "}", CredentialReply::kMetadata); });
  refuse([&] {
    return parse_json_credentials("{\"Code\":\"Failed\"," + keys + "}", CredentialReply::kMetadata);
  });
  for (const char* time : {"\"x\"", "1e300", "-1", "99999999999999999", "null"}) {
    refuse([&] {
      return parse_json_credentials(
          std::string(R"({"roleCredentials":{"accessKeyId":"ID","secretAccessKey":"SECRET",)") +
              R"("sessionToken":"T","expiration":)" + time + "}}",
          CredentialReply::kSso);
    });
  }
  refuse([] { return parse_sts_credentials("<A>SECRET</A>"); });
  refuse([] { return parse_sso_token(R"({"accessToken":"SECRET"})"); });
  refuse([] {
    return parse_sso_token(R"({"accessToken":"a\nSECRET","expiresAt":"2026-11-18T20:00:00Z"})");
  });
}

}  // namespace
}  // namespace stoker::detail
