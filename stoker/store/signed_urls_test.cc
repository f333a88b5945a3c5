#include "stoker/store/signed_urls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/store/open_store.h"
#include "stoker/store/test_environment.h"
#include "stoker/store/test_http_server.h"

namespace stoker {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string query_of(const std::string& url, const std::string& variable) {
  return signed_query(parse_url(url), environment_of({{"STOKER_SIGNED_URLS", variable}}));
}

TEST(SignedUrls, AddTheQueryOfTheNearestAddressAbove) {
  const std::string variable =
      "https://a.example/c?sv=1&sig=A%2B \n https://a.example/c/deep/?sig=B https://b.example?s=C";
  EXPECT_EQ(query_of("https://a.example/c", variable), "sv=1&sig=A%2B");
  EXPECT_EQ(query_of("https://a.example/c/p/", variable), "sv=1&sig=A%2B");
  EXPECT_EQ(query_of("https://a.example/c/deep/x", variable), "sig=B");
  EXPECT_EQ(query_of("https://b.example/any", variable), "s=C");
  for (const char* other : {"https://a.example/cc", "https://a.example", "http://a.example/c",
                            "https://a.example:444/c", "https://c.example/c"}) {
    EXPECT_EQ(query_of(other, variable), "") << other;
  }
  EXPECT_EQ(signed_query(parse_url("https://a.example"), environment_of({})), "");
}

TEST(SignedUrls, AreRefusedWithoutTheirQueryWhereTheyAreNoneOrGoInClear) {
  for (const char* wrong : {"https://a.example/c", "https://a.example/c?", "SECRET",
                            "http://a.example/c?SECRET", "https://u:SECRET@a.example/c?SECRET",
                            "https://a.example/c?SECRET#x", "s3://bucket/?SECRET"}) {
    EXPECT_THAT(message_of([&] { static_cast<void>(query_of("https://a.example", wrong)); }),
                Not(HasSubstr("SECRET")))
        << wrong;
  }
}

// As Azure's SAS URLs: the query comes behind the name of every object.
TEST(SignedUrls, KeepTheirQueryWithEachObjectAndOutOfMessages) {
  const TestHttpServer other(std::vector<TestReply>{{.body = "content"}});
  const TestHttpServer server([&](const TestRequest& request) -> TestReply {
    if (request.target.starts_with("/c/p/moved")) {
      return {.status = 307, .headers = {"Location: " + other.url() + "/x"}};
    }
    if (request.target.find("?sv=1&sig=SECRET%2B") == std::string::npos) return {.status = 403};
    if (request.target.starts_with("/c/p/missing")) return {.status = 404};
    return {.headers = {"ETag: \"1\""}, .body = "content"};
  });
  const StoreOptions options{.environment = environment_of(
                                 {{"STOKER_SIGNED_URLS", server.url() + "/c?sv=1&sig=SECRET%2B"}}),
                             .retry = quick_retries()};
  const auto store = open_store(server.url() + "/c/p", options);
  EXPECT_EQ(store->where(), server.url() + "/c/p");
  EXPECT_EQ(read_all(*store, {.name = "a b.tar"}), "content");
  EXPECT_EQ(store->look("o")->bytes, 7U);
  const auto requests = server.requests();
  EXPECT_EQ(requests.at(0).target, "/c/p/a%20b.tar?sv=1&sig=SECRET%2B");
  EXPECT_EQ(requests.at(1).target, "/c/p/o?sv=1&sig=SECRET%2B");
  for (const char* name : {"missing", "moved"}) {
    const std::string message =
        message_of([&] { static_cast<void>(read_all(*store, {.name = name})); });
    EXPECT_THAT(message, HasSubstr(server.url() + "/c/p/" + name));
    EXPECT_THAT(message, Not(HasSubstr("SECRET")));
  }
  EXPECT_EQ(other.connections(), 0U);
}

}  // namespace
}  // namespace stoker
