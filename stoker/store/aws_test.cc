#include "stoker/store/aws.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/store/test_environment.h"

namespace stoker {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// The example of Amazon's documentation, "Authenticating Requests: Using the Authorization Header".
const AwsCredentials kExample{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                              ""};

TEST(SignV4, MakesTheSignaturesOfAmazonsExamples) {
  const std::string nothing = sha256_hex({});
  const SignedRequest get{.method = "GET",
                          .host = "examplebucket.s3.amazonaws.com",
                          .path = "/test.txt",
                          .query = "",
                          .payload_hash = nothing,
                          .time = "20130524T000000Z"};
  EXPECT_THAT(
      sign_v4(get, kExample, "us-east-1", {"range:bytes=0-9"}),
      Contains(HasSubstr("Signature="
                         "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")));
  SignedRequest list = get;
  list.path = "/";
  list.query = "max-keys=2&prefix=J";
  EXPECT_THAT(
      sign_v4(list, kExample, "us-east-1"),
      Contains(HasSubstr("Signature="
                         "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")));
}

TEST(SignV4, SendsTheSessionTokenAndNeverTheSecret) {
  AwsCredentials credentials = kExample;
  credentials.session_token = "token";
  const auto headers = sign_v4({.method = "GET",
                                .host = "h",
                                .path = "/",
                                .query = "",
                                .payload_hash = "UNSIGNED-PAYLOAD",
                                .time = aws_time()},
                               credentials, "r");
  EXPECT_THAT(headers, Contains("x-amz-security-token:token"));
  EXPECT_THAT(headers, Not(Contains(HasSubstr(kExample.secret))));
}

TEST(AwsSettings, ComeFromVariablesOrFiles) {
  const auto from_variables = aws_settings(environment_of({{"AWS_ACCESS_KEY_ID", "id"},
                                                           {"AWS_SECRET_ACCESS_KEY", "secret"},
                                                           {"AWS_DEFAULT_REGION", "eu-north-1"},
                                                           {"AWS_ENDPOINT_URL", "http://h:1"}}));
  ASSERT_TRUE(from_variables.credentials);
  EXPECT_EQ(from_variables.credentials->get().key_id, "id");
  EXPECT_EQ(from_variables.region, "eu-north-1");
  EXPECT_EQ(from_variables.endpoint, "http://h:1");

  TempFolder home;
  const std::string keys =
      "# mine\n[default]\naws_access_key_id=a\naws_secret_access_key = b\n"
      "[other]\naws_access_key_id = c\naws_secret_access_key = d=e\naws_session_token = t\n";
  const std::string config = "[default]\nregion = r1\n[profile other]\nregion=r2\n";
  home.write(".aws/credentials", {keys.begin(), keys.end()});
  home.write(".aws/config", {config.begin(), config.end()});
  const std::string folder = home.path().string();
  const auto usual = aws_settings(environment_of({{"HOME", folder}}));
  EXPECT_EQ(usual.credentials->get().secret, "b");
  EXPECT_EQ(usual.region, "r1");
  const auto other = aws_settings(environment_of({{"HOME", folder}, {"AWS_PROFILE", "other"}}));
  EXPECT_EQ(other.credentials->get().secret, "d=e");
  EXPECT_EQ(other.credentials->get().session_token, "t");
  EXPECT_EQ(other.region, "r2");
  EXPECT_FALSE(aws_settings(environment_of({})).credentials);
  EXPECT_THROW(static_cast<void>(aws_settings(environment_of({{"AWS_ACCESS_KEY_ID", "id"}}))),
               Error);
}

TEST(AwsHost, IsThatOfTheRegionAndOfNothingElse) {
  EXPECT_EQ(aws_host("sts", "eu-north-1"), "sts.eu-north-1.amazonaws.com");
  EXPECT_EQ(aws_host("s3", "cn-north-1"), "s3.cn-north-1.amazonaws.com.cn");
  for (const char* region : {"", "evil.example/", "a b", "x@y"}) {
    EXPECT_THROW(static_cast<void>(aws_host("sts", region)), Error) << region;
  }
}

}  // namespace
}  // namespace stoker
