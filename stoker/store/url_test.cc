#include "stoker/store/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/store/open_store.h"

namespace stoker {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Url, HasSchemeHostAndPath) {
  const Url url = parse_url("http://host:8000/a/b/");
  EXPECT_EQ(url.origin(), "http://host:8000");
  EXPECT_EQ(url.path, "/a/b");
  EXPECT_EQ(parse_url("https://host:443/a").host, "host");
  EXPECT_EQ(parse_url("s3://bucket").path, "");
}

TEST(Url, RefusesWhatMayHoldASecretWithoutRepeatingIt) {
  for (const char* text : {"https://user:SECRET@host/a", "https://host/a?X-Amz-Signature=SECRET",
                           "https://host/a#SECRET", "http://ho st/SECRET"}) {
    const std::string message = message_of([&] { static_cast<void>(open_store(text)); });
    EXPECT_THAT(message, HasSubstr("cannot use this address"));
    EXPECT_THAT(message, Not(HasSubstr("SECRET")));
  }
  for (const char* text : {"http://", "ftp://host/a", "file:///etc/passwd", "gopher://x/"}) {
    EXPECT_THROW(static_cast<void>(open_store(text)), Error) << text;
  }
}

TEST(Url, TakesSecretsByHttpsOrToThisMachineAlone) {
  for (const char* text : {"https://host/a", "http://127.0.0.1:80", "http://127.1.2.3/a",
                           "http://[::1]:8000/a", "http://localhost:1", "https://10.0.0.1"}) {
    EXPECT_TRUE(may_take_secrets(parse_url(text))) << text;
  }
  for (const char* text :
       {"http://host/a", "http://10.0.0.1", "http://127.0.0.1.evil.example", "http://127.1",
        "http://0x7f.0.0.1", "http://2130706433", "http://[::2]", "http://[::1].evil.example",
        "http://[::1]evil", "http://localhost.evil.example", "http://169.254.169.254",
        "s3://bucket", "http://[::ffff:10.0.0.1]"}) {
    EXPECT_FALSE(may_take_secrets(parse_url(text))) << text;
  }
}

TEST(Url, EncodesNames) {
  EXPECT_EQ(percent_encoded("a b/c+d~é", true), "a%20b/c%2Bd~%C3%A9");
  EXPECT_EQ(percent_encoded("a/b", false), "a%2Fb");
}

}  // namespace
}  // namespace stoker
