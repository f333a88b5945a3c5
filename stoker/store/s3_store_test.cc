#include "stoker/store/s3_store.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/store/test_http_server.h"

namespace stoker {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const AwsCredentials kCredentials{"KEY-ID", "SECRET", "TOKEN"};

AwsSettings settings_of(const TestHttpServer& server,
                        std::optional<AwsCredentials> credentials = kCredentials) {
  return {
      .credentials = credentials ? std::make_shared<AwsCredentialSource>(*credentials) : nullptr,
      .region = "here",
      .endpoint = server.url()};
}

S3Store store_of(const TestHttpServer& server, const std::string& prefix = "s3://bucket/p") {
  return {prefix, settings_of(server), quick_retries()};
}

// The request has the headers of sign_v4, made for this host at the time that it names.
void expect_signed(const TestRequest& request, const TestHttpServer& server) {
  const std::size_t mark = request.target.find('?');
  const auto headers =
      sign_v4({.method = request.method,
               .host = server.host(),
               .path = request.target.substr(0, mark),
               .query = mark == std::string::npos ? "" : request.target.substr(mark + 1),
               .payload_hash = sha256_hex(std::as_bytes(std::span(request.body))),
               .time = request.header("x-amz-date")},
              kCredentials, "here");
  EXPECT_EQ(request.header("x-amz-date").size(), 16U);
  EXPECT_THAT(headers, Contains("authorization:" + request.header("authorization")));
  EXPECT_EQ(request.header("x-amz-security-token"), "TOKEN");
  for (const auto& [name, value] : request.headers) EXPECT_THAT(value, Not(HasSubstr("SECRET")));
}

TEST(S3Store, SignsRequestsForTheBucketsPath) {
  const TestHttpServer server(std::vector<TestReply>{{.body = "content"}});
  const S3Store store = store_of(server, "s3://bucket/some/p/");
  EXPECT_EQ(store.where(), "s3://bucket/some/p");
  EXPECT_EQ(read_all(store, {.name = "a b+c.tar"}), "content");
  EXPECT_EQ(store.look("o")->bytes, 7U);
  EXPECT_EQ(read_all(store_of(server, "s3://bucket"), {.name = "o"}), "content");
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[0].target, "/bucket/some/p/a%20b%2Bc.tar");
  EXPECT_EQ(requests[1].method + " " + requests[1].target, "HEAD /bucket/some/p/o");
  EXPECT_EQ(requests[2].target, "/bucket/o");
  for (const TestRequest& request : requests) expect_signed(request, server);
}

TEST(S3Store, SignsNothingWithoutCredentials) {
  const TestHttpServer server(std::vector<TestReply>{{.body = "content"}});
  const S3Store store("s3://bucket", settings_of(server, std::nullopt), quick_retries());
  EXPECT_EQ(read_all(store, {.name = "o"}), "content");
  const TestRequest asked = server.requests().at(0);
  EXPECT_FALSE(asked.headers.contains("authorization"));
  EXPECT_FALSE(asked.headers.contains("x-amz-date"));
}

TEST(S3Store, EndpointsMayHaveAPath) {
  const TestHttpServer server(std::vector<TestReply>{{.body = "content"}});
  AwsSettings settings = settings_of(server);
  settings.endpoint += "/s3/";
  EXPECT_EQ(read_all(S3Store("s3://bucket", settings, quick_retries()), {.name = "o"}), "content");
  EXPECT_EQ(server.requests().at(0).target, "/s3/bucket/o");
}

// The test's server is the proxy that the variable names: it is asked for a way to the host.
TEST(S3Store, WithoutAnEndpointIsAmazonsByTheBucketsHost) {
  const TestHttpServer proxy(std::vector<TestReply>{{.status = 403}});
  ::setenv("https_proxy", proxy.url().c_str(), 1);
  const S3Store store("s3://bucket/p",
                      {.credentials = std::make_shared<AwsCredentialSource>(kCredentials),
                       .region = "eu-north-1",
                       .endpoint = ""},
                      quick_retries(1));
  EXPECT_THROW(static_cast<void>(store.look("o")), Error);
  ::unsetenv("https_proxy");
  const TestRequest asked = proxy.requests().at(0);
  EXPECT_EQ(asked.method + " " + asked.target, "CONNECT bucket.s3.eu-north-1.amazonaws.com:443");
  EXPECT_FALSE(asked.headers.contains("authorization"));
}

TEST(S3Store, ResumesWithASignedRange) {
  const std::vector<std::string> tag = {"ETag: \"1\""};
  const TestHttpServer server(std::vector<TestReply>{
      {.headers = tag, .body = "0123456789", .cut_after = 4},
      {.status = 503, .body = "<Code>SlowDown</Code>"},
      {.status = 206, .headers = {tag[0], "Content-Range: bytes 4-9/10"}, .body = "456789"}});
  EXPECT_EQ(read_all(store_of(server), {.name = "o"}), "0123456789");
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[2].header("range"), "bytes=4-");
  EXPECT_EQ(requests[2].header("if-match"), "\"1\"");
  expect_signed(requests[2], server);
}

TEST(S3Store, SaysWhatTheServerSaysAndNothingSecret) {
  const TestHttpServer server(std::vector<TestReply>{
      {.status = 403, .body = "<Code>AccessDenied</Code><Key>SECRET</Key>"}});
  const S3Store store = store_of(server);
  for (const std::string& message :
       {message_of([&] { static_cast<void>(store.list()); }),
        message_of([&] { static_cast<void>(read_all(store, {.name = "o"})); })}) {
    EXPECT_THAT(message, HasSubstr("s3://bucket/p"));
    EXPECT_THAT(message, HasSubstr("HTTP status 403 (AccessDenied)"));
    EXPECT_THAT(message, Not(HasSubstr("SECRET")));
    EXPECT_THAT(message, Not(HasSubstr("KEY-ID")));
  }
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST(S3Store, FollowsNoRedirectToAnotherHost) {
  const TestHttpServer other(std::vector<TestReply>{{.body = "content"}});
  const TestHttpServer server(
      std::vector<TestReply>{{.status = 307, .headers = {"Location: " + other.url() + "/o"}}});
  const TempFolder folder;
  const auto file = folder.write("file", {1, 2, 3});
  for (const auto& credentials : {std::optional(kCredentials), std::optional<AwsCredentials>()}) {
    const S3Store store("s3://bucket", settings_of(server, credentials), quick_retries());
    EXPECT_THAT(message_of([&] { static_cast<void>(read_all(store, {.name = "o"})); }),
                HasSubstr("a redirect to another host"));
    EXPECT_THAT(message_of([&] { store.write("o", file); }), HasSubstr("another host"));
    EXPECT_THAT(message_of([&] { static_cast<void>(store.list()); }), HasSubstr("another host"));
  }
  EXPECT_EQ(server.requests().size(), 6U);
  EXPECT_EQ(other.requests().size(), 0U);
  EXPECT_EQ(other.connections(), 0U);
}

TEST(S3Store, SignsAnewWhereItIsSentOnTheSameHost) {
  const TestHttpServer server(std::vector<TestReply>{
      {.status = 307, .headers = {"Location: /moved/o?version=2"}}, {.body = "content"}});
  EXPECT_EQ(read_all(store_of(server), {.name = "o"}), "content");
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[1].target, "/moved/o?version=2");
  for (const TestRequest& request : requests) expect_signed(request, server);
}

TEST(S3Store, WritesAFileWithItsDigestUntilItIsTaken) {
  const TestHttpServer server(std::vector<TestReply>{{.status = 503}, {}});
  const TempFolder folder;
  const Bytes content(100'000, 'z');
  store_of(server).write("a b", folder.write("file", content));
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 2U);
  for (const TestRequest& request : requests) {
    EXPECT_EQ(request.method + " " + request.target, "PUT /bucket/p/a%20b");
    EXPECT_TRUE(request.body == std::string(content.begin(), content.end()));
    EXPECT_EQ(request.header("x-amz-content-sha256"), sha256_hex(as_span(content)));
    expect_signed(request, server);
  }
}

TEST(S3Store, ListsWhatLiesDirectlyBelowThePrefixOverAllPages) {
  const TestHttpServer server(
      std::vector<TestReply>{{.body = "<Key>p/c.tar</Key><Key>p/deeper/x.tar</Key>"
                                      "<NextContinuationToken>a+/=</NextContinuationToken>"},
                             {.status = 500, .body = "<Key>p/wrong</Key>"},
                             {.body = "<Key>p/a.tar</Key><Key>other.tar</Key><Key>p/b.tar</Key>"}});
  EXPECT_THAT(store_of(server).list(), ElementsAre("a.tar", "b.tar", "c.tar"));
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[0].target, "/bucket/?list-type=2&prefix=p%2F");
  EXPECT_EQ(requests[2].target, "/bucket/?continuation-token=a%2B%2F%3D&list-type=2&prefix=p%2F");
  for (const TestRequest& request : requests) expect_signed(request, server);
}

TEST(S3Store, ListsAWholeBucket) {
  const TestHttpServer server(std::vector<TestReply>{{.body = "<Key>b</Key><Key>a</Key>"}});
  EXPECT_THAT(store_of(server, "s3://bucket").list(), ElementsAre("a", "b"));
  EXPECT_EQ(server.requests().at(0).target, "/bucket/?list-type=2&prefix=");
}

}  // namespace
}  // namespace stoker
