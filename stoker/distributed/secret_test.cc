#include "stoker/distributed/secret.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kFirst(64, 'a'), kSecond(32, 'b');

Environment secret_environment(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

fs::path secret_file(const TempFolder& folder, const std::string& text, fs::perms mode) {
  const fs::path path = folder.write("secret", Bytes(text.begin(), text.end()));
  fs::permissions(path, mode);
  return path;
}

constexpr fs::perms kOwn = fs::perms::owner_read | fs::perms::owner_write;

std::string refusal_of(const std::string& file, const Environment& environment) {
  try {
    static_cast<void>(read_rank_secret(file, environment));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(RankSecret, AFileWinsOverTheEnvironmentAndNothingMeansNone) {
  const TempFolder folder;
  const std::string path = secret_file(folder, kFirst + "\r\nanother line\n", kOwn);
  EXPECT_EQ(read_rank_secret("", secret_environment({})), "");
  EXPECT_EQ(read_rank_secret(path, secret_environment({{"STOKER_DIST_SECRET", kSecond}})), kFirst);
  EXPECT_EQ(read_rank_secret("", secret_environment({{"STOKER_DIST_SECRET", kSecond}})), kSecond);
  EXPECT_EQ(read_rank_secret("", secret_environment({{"STOKER_DIST_SECRET", kSecond},
                                                     {"STOKER_DIST_SECRET_FILE", path}})),
            kFirst);
}

TEST(RankSecret, AFileThatOthersMayReadIsRefused) {
  const TempFolder folder;
  for (const fs::perms more : {fs::perms::group_read, fs::perms::others_read}) {
    const std::string path = secret_file(folder, kFirst, kOwn | more);
    EXPECT_THAT(refusal_of(path, secret_environment({})),
                AllOf(HasSubstr("others may read"), HasSubstr("chmod 600")));
  }
}

TEST(RankSecret, UselessOnesAreRefusedWithoutBeingPrinted) {
  const TempFolder folder;
  const std::string little = "short-and-secret";
  const std::string path = secret_file(folder, little, kOwn);
  const std::string none = (folder.path() / "none").string();
  const std::string pipe = (folder.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(refusal_of(path, secret_environment({})),
              AllOf(HasSubstr("32 to 1024"), HasSubstr("got 16"), Not(HasSubstr(little))));
  EXPECT_THAT(refusal_of("", secret_environment({{"STOKER_DIST_SECRET", little}})),
              AllOf(HasSubstr("got 16"), Not(HasSubstr(little))));
  EXPECT_THAT(refusal_of("", secret_environment({{"STOKER_DIST_SECRET", ""}})), HasSubstr("got 0"));
  EXPECT_THAT(refusal_of("", secret_environment({{"STOKER_DIST_SECRET_FILE", ""}})),
              HasSubstr("cannot read"));
  EXPECT_THAT(refusal_of(none, secret_environment({})), HasSubstr("cannot read"));
  EXPECT_THAT(refusal_of(pipe, secret_environment({})), HasSubstr("no regular file"));
  const std::string large = secret_file(folder, std::string(1 << 20, 'x'), kOwn);
  EXPECT_THAT(refusal_of(large, secret_environment({})), HasSubstr("got more"));
}

}  // namespace
}  // namespace stoker
