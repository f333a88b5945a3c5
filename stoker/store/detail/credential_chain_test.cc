#include "stoker/store/detail/credential_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/store/aws.h"
#include "stoker/store/test_environment.h"
#include "stoker/store/test_http_server.h"

namespace stoker::detail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

// A home with AWS's files, and what aws_settings finds there.
class ChainHome {
 public:
  ChainHome(const std::string& credentials, const std::string& config) {
    write(".aws/credentials", credentials);
    write(".aws/config", config);
  }
  void write(const char* name, const std::string& text) const {
    static_cast<void>(folder_.write(name, {text.begin(), text.end()}));
  }
  [[nodiscard]] std::string path(const char* name) const {
    return (folder_.path() / name).string();
  }
  [[nodiscard]] std::shared_ptr<const AwsCredentialSource> settings(
      std::map<std::string, std::string> variables) const {
    variables.emplace("HOME", folder_.path().string());
    return aws_settings(environment_of(std::move(variables))).credentials;
  }
  // "" where there are no credentials.
  [[nodiscard]] std::string key_id(std::map<std::string, std::string> variables) const {
    const auto source = settings(std::move(variables));
    return source == nullptr ? "" : source->get().key_id;
  }
  [[nodiscard]] std::string failure(std::map<std::string, std::string> variables) const {
    return message_of([&] { static_cast<void>(key_id(std::move(variables))); });
  }

 private:
  TempFolder folder_;
};

std::string keys_in_file(const std::string& id) {
  return "aws_access_key_id = " + id + "\naws_secret_access_key = s\n";
}

std::string process_that_prints(const std::string& id) {
  return R"(credential_process = printf '{"Version":1,"AccessKeyId":")" + id +
         R"(","SecretAccessKey":"s"}')"
         "\n";
}

// Each of these has all providers that come after it, and names itself by its key.
TEST(CredentialChain, HasTheOrderOfAwsCommandLine) {
  const TestHttpServer server([](const TestRequest& request) -> TestReply {
    const std::string time = "2126-11-18T20:00:00Z";
    if (request.method == "POST") {
      return {.body =
                  "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult>"
                  "<Credentials><AccessKeyId>web</AccessKeyId><SecretAccessKey>s"
                  "</SecretAccessKey><SessionToken>t</SessionToken><Expiration>" +
                  time +
                  "</Expiration></Credentials></AssumeRoleWithWebIdentityResult>"
                  "</AssumeRoleWithWebIdentityResponse>"};
    }
    if (request.target.starts_with("/federation")) {
      return {.body = R"({"roleCredentials":{"accessKeyId":"sso","secretAccessKey":"s",)"
                      R"("sessionToken":"t","expiration":4000000000000}})"};
    }
    const char* id = request.target == "/container" ? "container" : "imds";
    return {.body = request.target.ends_with("credentials/")
                        ? "role"
                        : fmt::format(R"({{"Code":"Success","AccessKeyId":"{}",)"
                                      R"("SecretAccessKey":"s","Expiration":"{}"}})",
                                      id, time)};
  });
  const std::string sso =
      "sso_session = my sso\nsso_account_id = 1\nsso_role_name = r\n"
      "[sso-session my sso]\nsso_start_url = https://x.example/start\nsso_region = r\n";
  const auto home = [&](const std::string& credentials, const std::string& config) {
    return ChainHome("[default]\n" + credentials, "[default]\n" + config);
  };
  std::map<std::string, std::string> all = {
      {"AWS_ACCESS_KEY_ID", "variables"},
      {"AWS_SECRET_ACCESS_KEY", "s"},
      {"AWS_WEB_IDENTITY_TOKEN_FILE", ""},
      {"AWS_ROLE_ARN", "arn"},
      {"AWS_ENDPOINT_URL", server.url()},
      {"AWS_CONTAINER_CREDENTIALS_FULL_URI", server.url() + "/container"},
      {"STOKER_S3_IMDS", "1"},
      {"AWS_EC2_METADATA_SERVICE_ENDPOINT", server.url()}};
  const ChainHome full =
      home(keys_in_file("file") + process_that_prints("process"), keys_in_file("config") + sso);
  full.write("token", "token");
  all["AWS_WEB_IDENTITY_TOKEN_FILE"] = full.path("token");
  EXPECT_EQ(full.key_id(all), "variables");
  all.erase("AWS_ACCESS_KEY_ID");
  all.erase("AWS_SECRET_ACCESS_KEY");
  EXPECT_EQ(full.key_id(all), "web");
  all.erase("AWS_WEB_IDENTITY_TOKEN_FILE");
  EXPECT_THAT(full.failure(all), HasSubstr("the single sign-on of profile default"));
  EXPECT_EQ(home(keys_in_file("file") + process_that_prints("process"), keys_in_file("config"))
                .key_id(all),
            "file");
  EXPECT_EQ(home(process_that_prints("process"), keys_in_file("config")).key_id(all), "process");
  EXPECT_EQ(home("", keys_in_file("config")).key_id(all), "config");
  EXPECT_EQ(home("", "").key_id(all), "container");
  all.erase("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  EXPECT_EQ(home("", "").key_id(all), "imds");
  const std::size_t asked = server.requests().size();
  all["AWS_EC2_METADATA_DISABLED"] = "true";
  EXPECT_EQ(home("", "").key_id(all), "");
  all.erase("AWS_EC2_METADATA_DISABLED");
  all.erase("STOKER_S3_IMDS");
  EXPECT_EQ(home("", "").key_id(all), "");
  EXPECT_EQ(server.requests().size(), asked);
}

// The names of the files are those that `aws sso login` makes: by `printf NAME | sha1sum`.
TEST(CredentialChain, FindsTheTokenOfSingleSignOnByTheSessionOrTheAddress) {
  const TestHttpServer server(std::vector<TestReply>{
      {.body = R"({"roleCredentials":{"accessKeyId":"sso","secretAccessKey":"s",)"
               R"("sessionToken":"t","expiration":4000000000000}})"}});
  const std::string token = R"({"accessToken":"t","expiresAt":"2126-11-18T20:00:00Z"})";
  const ChainHome home("",
                       "[profile new]\nsso_session = work\nsso_account_id = 1\nsso_role_name = r\n"
                       "[sso-session work]\nsso_region = r\nsso_start_url = https://x.example/\n"
                       "[profile old]\nsso_start_url = https://x.example/start\nsso_region = r\n"
                       "sso_account_id = 1\nsso_role_name = r\n"
                       "[profile half]\nsso_session = work\n");
  const auto of_profile = [&](const char* profile) {
    return std::map<std::string, std::string>{{"AWS_PROFILE", profile},
                                              {"AWS_ENDPOINT_URL_SSO", server.url()}};
  };
  home.write(".aws/sso/cache/e274eeff768c6396088ec6eb091f4bf4d47ab1e0.json", token);
  EXPECT_EQ(home.key_id(of_profile("new")), "sso");
  EXPECT_THAT(home.failure(of_profile("old")), HasSubstr("aws sso login --profile old"));
  home.write(".aws/sso/cache/80c7f57c51e0449101de09ef74138a588ea0d4a6.json", token);
  EXPECT_EQ(home.key_id(of_profile("old")), "sso");
  EXPECT_THAT(home.failure(of_profile("half")), HasSubstr("sso_account_id"));
}

TEST(CredentialChain, RefusesWhatItDoesNotKnowInsteadOfUsingOthers) {
  const ChainHome home(
      "[base]\n" + keys_in_file("base"),
      "[profile role]\nrole_arn = a\nsource_profile = base\n"
      "[profile machine]\nrole_arn = a\ncredential_source = Ec2InstanceMetadata\n");
  for (const char* profile : {"role", "machine"}) {
    EXPECT_THAT(home.failure({{"AWS_PROFILE", profile}}), HasSubstr("not supported"));
  }
  EXPECT_EQ(home.key_id({{"AWS_PROFILE", "base"}}), "base");
  EXPECT_THAT(home.failure({{"AWS_PROFILE", "none"}}), HasSubstr("no profile none"));
  EXPECT_THAT(home.failure({{"STOKER_S3_IMDS", "maybe"}}), HasSubstr("0 or 1"));
  EXPECT_THAT(home.failure({{"AWS_WEB_IDENTITY_TOKEN_FILE", "f"}}), HasSubstr("AWS_ROLE_ARN"));
}

TEST(CredentialChain, FailsWhereTheFirstProviderFails) {
  const ChainHome home("[default]\ncredential_process = false\n",
                       "[default]\n" + keys_in_file("config"));
  EXPECT_THAT(home.failure({}), HasSubstr("exit status 1"));
}

TEST(CredentialChain, GivesTheSameKeyToTheSameProviderWithoutItsSecrets) {
  const ChainHome home("", "");
  const auto key = [&](const char* token) {
    return home
        .settings({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "https://h/"},
                   {"AWS_CONTAINER_AUTHORIZATION_TOKEN", token}})
        ->key();
  };
  EXPECT_EQ(key("SECRET"), key("SECRET"));
  EXPECT_NE(key("SECRET"), key("other"));
  EXPECT_THAT(key("SECRET"), Not(HasSubstr("SECRET")));
}

TEST(AwsFiles, HaveSectionsAndValuesButNotWhatBelongsToValues) {
  const auto file = parse_aws_file(
      "lost = 1\n# [comment]\n[default]\r\nregion = r1\r\ns3 =\n  region = nested\n  x = y\n"
      "; note\noutput=json\n[ profile  \"a b\" ]\n  indented = 1\n  region = r=2 # kept\n"
      "[profile c]\nregion\n[unclosed\nk = v");
  EXPECT_THAT(file.at("default"),
              ElementsAre(Pair("output", "json"), Pair("region", "r1"), Pair("s3", "")));
  EXPECT_THAT(file.at("profile a b"),
              ElementsAre(Pair("indented", "1"), Pair("region", "r=2 # kept")));
  EXPECT_TRUE(file.at("profile c").empty());
  EXPECT_EQ(file.count("lost"), 0U);
}

TEST(AwsFiles, AreReadUpToALimit) {
  const TempFolder folder;
  const auto path = folder.write("f", Bytes(100, 'x'));
  EXPECT_EQ(read_small_file(path, 100).size(), 100U);
  EXPECT_THROW(static_cast<void>(read_small_file(path, 99)), Error);
  EXPECT_THROW(static_cast<void>(read_small_file(folder.path(), 99)), Error);
  EXPECT_THROW(static_cast<void>(read_small_file("/dev/zero", 99)), Error);
}

}  // namespace
}  // namespace stoker::detail
