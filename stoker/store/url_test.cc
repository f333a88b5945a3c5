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

TEST(Url, EncodesNames) {
  EXPECT_EQ(percent_encoded("a b/c+d~é", true), "a%20b/c%2Bd~%C3%A9");
  EXPECT_EQ(percent_encoded("a/b", false), "a%2Fb");
}

}  // namespace
}  // namespace stoker
