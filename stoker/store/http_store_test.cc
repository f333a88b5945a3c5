#include "stoker/store/http_store.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/store/test_http_server.h"

namespace stoker {
namespace {

using testing::HasSubstr;

const std::string kContent = "0123456789abcdefghij";

// kContent from `begin` on, as a server with ranges gives it.
TestReply part_from(std::size_t begin, const std::string& tag = "\"1\"") {
  return {.status = 206,
          .headers = {"ETag: " + tag, fmt::format("Content-Range: bytes {}-19/20", begin)},
          .body = kContent.substr(begin)};
}

TestReply cut(TestReply reply, std::size_t after) {
  reply.cut_after = after;
  return reply;
}

TestReply whole(const std::string& tag = "\"1\"") {
  return {.headers = {"ETag: " + tag}, .body = kContent};
}

// The message of a read that must fail.
std::string read_failure(const TestHttpServer& server, const ReadRequest& request = {.name = "o"}) {
  const HttpStore store(server.url(), quick_retries());
  return message_of([&] { static_cast<void>(read_all(store, request)); });
}

TEST(HttpStore, AsksForEncodedNamesBelowThePrefix) {
  const TestHttpServer server(std::vector<TestReply>{whole()});
  const HttpStore store(server.url() + "/a%20b/", quick_retries());
  EXPECT_EQ(store.where(), server.url() + "/a%20b");
  EXPECT_EQ(read_all(store, {.name = "c/d e+é.tar"}), kContent);
  const TestRequest asked = server.requests().at(0);
  EXPECT_EQ(asked.method + " " + asked.target, "GET /a%20b/c/d%20e%2B%C3%A9.tar");
  EXPECT_EQ(asked.header("host"), server.host());
  EXPECT_FALSE(asked.headers.contains("range"));
  EXPECT_FALSE(asked.headers.contains("authorization"));
}

TEST(HttpStore, LookGivesLengthAndVersion) {
  const TestHttpServer server(
      std::vector<TestReply>{{.headers = {"ETag: \"1\"", "Last-Modified: then"}, .body = kContent},
                             {.headers = {"Last-Modified: then"}, .body = kContent},
                             {.status = 404},
                             {.status = 410}});
  const HttpStore store(server.url(), quick_retries());
  const auto tagged = store.look("o");
  ASSERT_TRUE(tagged);
  EXPECT_EQ(tagged->bytes, 20U);
  EXPECT_EQ(tagged->version, "\"1\"");
  const auto dated = store.look("o");
  ASSERT_TRUE(dated);
  EXPECT_EQ(dated->version, "then");
  EXPECT_FALSE(store.look("o"));
  EXPECT_FALSE(store.look("o"));
  EXPECT_EQ(server.requests().size(), 4U);
  EXPECT_EQ(server.requests()[0].method, "HEAD");
}

TEST(HttpStore, LookTriesAgainUntilThereIsALength) {
  const TestHttpServer server(
      std::vector<TestReply>{{.status = 503}, {.tell_length = false}, {.body = kContent}});
  const auto facts = HttpStore(server.url(), quick_retries()).look("o");
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->bytes, 20U);
  const TestHttpServer never(std::vector<TestReply>{{.tell_length = false}});
  EXPECT_THAT(
      message_of([&] { static_cast<void>(HttpStore(never.url(), quick_retries()).look("o")); }),
      HasSubstr("an answer without a length, at the last of 3 tries"));
}

TEST(HttpStore, ReadsAPartWithARange) {
  const TestHttpServer server([](const TestRequest& request) {
    TestReply reply = part_from(5);
    if (request.header("range") == "bytes=5-14") reply.body = kContent.substr(5, 10);
    return reply;
  });
  const HttpStore store(server.url(), quick_retries());
  EXPECT_EQ(read_all(store, {.name = "o", .begin = 5, .length = 10}), kContent.substr(5, 10));
  EXPECT_EQ(read_all(store, {.name = "o", .begin = 5}), kContent.substr(5));
  EXPECT_EQ(read_all(store, {.name = "o", .begin = 5, .length = 0}), "");
  EXPECT_EQ(server.requests().size(), 2U);
  EXPECT_EQ(server.requests()[1].header("range"), "bytes=5-");
}

TEST(HttpStore, ReadsARangeAloneOrNothing) {
  const TestHttpServer server(
      std::vector<TestReply>{part_from(0), part_from(5), cut(part_from(5), 3), part_from(8)});
  const HttpStore store(server.url(), quick_retries());
  const auto read = [&](std::uint64_t begin) {
    return read_all(store,
                    {.name = "o", .begin = begin, .length = 20 - begin, .range_alone = true});
  };
  EXPECT_EQ(read(0), kContent);
  EXPECT_EQ(server.requests()[0].header("range"), "bytes=0-19");
  EXPECT_EQ(read(5), kContent.substr(5));
  EXPECT_EQ(read(5), kContent.substr(5));  // cut once
  const TestHttpServer without(std::vector<TestReply>{whole()});
  EXPECT_THAT(read_failure(without, {.name = "o", .begin = 5, .length = 3, .range_alone = true}),
              HasSubstr("the whole object where a range was asked for"));
  EXPECT_EQ(without.requests().size(), 1U) << "what is refused is not asked for again";
}

TEST(HttpStore, ResumesWhereItWasCutOffAsLongAsItIsTheSameObject) {
  const TestHttpServer server(
      std::vector<TestReply>{cut(whole(), 4), cut(part_from(4), 3), part_from(7)});
  const HttpStore store(server.url(), quick_retries());
  EXPECT_EQ(read_all(store, {.name = "o", .length = 20}), kContent);
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[1].header("range"), "bytes=4-19");
  EXPECT_EQ(requests[1].header("if-match"), "\"1\"");
  EXPECT_EQ(requests[2].header("range"), "bytes=7-19");

  const TestHttpServer weak(std::vector<TestReply>{cut(whole("W/1"), 4), part_from(4, "W/1")});
  EXPECT_EQ(read_all(HttpStore(weak.url(), quick_retries()), {.name = "o"}), kContent);
  EXPECT_EQ(weak.requests().at(1).header("range"), "bytes=4-");
  EXPECT_FALSE(weak.requests().at(1).headers.contains("if-match"));  // which no weak tag fulfils
}

TEST(HttpStore, RefusesAnObjectThatIsReplacedMeanwhile) {
  const TestHttpServer server(std::vector<TestReply>{cut(whole(), 4), part_from(4, "\"2\"")});
  EXPECT_THAT(read_failure(server), HasSubstr("the object was replaced while it was read"));
  EXPECT_EQ(server.requests().size(), 2U);
  const TestHttpServer strict(std::vector<TestReply>{cut(whole(), 4), {.status = 412}});
  EXPECT_THAT(read_failure(strict), HasSubstr("HTTP status 412"));
  EXPECT_EQ(strict.requests().size(), 2U);
}

TEST(HttpStore, RefusesAnotherRange) {
  for (const char* range : {"bytes 6-19/20", "bytes */20", "5-19/20", "bytes 5"}) {
    TestReply reply = part_from(5);
    reply.headers = {std::string("Content-Range: ") + range};
    const TestHttpServer server({reply});
    EXPECT_THAT(read_failure(server, {.name = "o", .begin = 5}),
                HasSubstr("another range than the one asked for, at the last of 3 tries"))
        << range;
  }
}

TEST(HttpStore, RefusesMoreOrLessThanWasAskedFor) {
  const TestHttpServer server(std::vector<TestReply>{whole()});
  EXPECT_THAT(read_failure(server, {.name = "o", .length = 19}),
              HasSubstr("more than 19 bytes, at the last of 3 tries"));
  EXPECT_THAT(read_failure(server, {.name = "o", .at_most = 19}), HasSubstr("more than 19 bytes."));
  const HttpStore store(server.url(), quick_retries());
  EXPECT_EQ(read_all(store, {.name = "o", .at_most = 20}), kContent);
  const TestHttpServer shorter(std::vector<TestReply>{whole(), part_from(20)});
  EXPECT_THAT(read_failure(shorter, {.name = "o", .length = 21}),
              HasSubstr("an end after 20 of 21 bytes, at the last of 3 tries"));
}

// The rest of a reply that was too short would be taken for the next one.
TEST(HttpStore, TriesAgainOnAnotherConnectionAfterAnEarlyEnd) {
  TestReply early = whole();
  early.body.resize(8);
  early.excess = kContent.substr(8);
  const TestHttpServer server(std::vector<TestReply>{early, part_from(8)});
  const HttpStore store(server.url(), quick_retries(2));
  EXPECT_EQ(read_all(store, {.name = "o", .length = 20}), kContent);
  EXPECT_EQ(server.connections(), 2U);
}

TEST(HttpStore, TriesAgainWhatPassesAndNothingElse) {
  const TestHttpServer server(std::vector<TestReply>{
      {.status = 429, .headers = {"Retry-After: 1"}}, {.status = 503}, whole()});
  EXPECT_EQ(read_all(HttpStore(server.url(), quick_retries()), {.name = "o"}), kContent);
  const TestHttpServer busy(std::vector<TestReply>{{.status = 503}});
  EXPECT_THAT(read_failure(busy), HasSubstr(busy.url() + "/o"));
  EXPECT_EQ(busy.requests().size(), 3U);
  const TestHttpServer empty(std::vector<TestReply>{{.status = 404}});
  EXPECT_THAT(read_failure(empty), HasSubstr("HTTP status 404."));
  EXPECT_EQ(empty.requests().size(), 1U);
}

TEST(HttpStore, FollowsRedirectsToOtherHostsOnRequestAndAsksThereForTheSameRange) {
  const TestHttpServer target(std::vector<TestReply>{part_from(5)});
  const TestHttpServer server([&](const TestRequest& request) -> TestReply {
    if (request.target == "/o") return {.status = 302, .headers = {"Location: /near"}};
    return {.status = 308, .headers = {"Location: " + target.url() + "/far?x=y"}};
  });
  EXPECT_THAT(message_of([&] {
                static_cast<void>(
                    read_all(HttpStore(server.url(), quick_retries()), {.name = "o", .begin = 5}));
              }),
              HasSubstr("a redirect to another host (" + target.url() +
                        "), which is not followed without `follow_redirects`"));
  EXPECT_TRUE(target.requests().empty());
  const HttpStore store(server.url(), quick_retries(), {.follow_redirects = true});
  EXPECT_EQ(read_all(store, {.name = "o", .begin = 5}), kContent.substr(5));
  EXPECT_EQ(server.requests().at(1).target, "/near");
  EXPECT_EQ(target.requests().at(0).target, "/far?x=y");
  EXPECT_EQ(target.requests().at(0).header("range"), "bytes=5-");
  EXPECT_EQ(target.requests().at(0).header("host"), target.host());
}

TEST(HttpStore, FollowsFiveRedirects) {
  const auto away = [](int times) {
    std::vector<TestReply> replies(times, {.status = 307, .headers = {"Location: /o"}});
    replies.push_back(whole());
    return replies;
  };
  const TestHttpServer five(away(5));
  EXPECT_EQ(read_all(HttpStore(five.url(), quick_retries()), {.name = "o"}), kContent);
  const TestHttpServer six(away(6));
  EXPECT_THAT(read_failure(six), HasSubstr("more than five redirects"));
  EXPECT_EQ(six.requests().size(), 6U);
}

TEST(HttpStore, GivesUpWhenItIsToStop) {
  TestReply hanging = cut(whole(), 4);
  hanging.hang = true;
  const TestHttpServer server({hanging});
  const HttpStore store(server.url(), quick_retries());
  std::stop_source stop;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(message_of([&] {
                store.read({.name = "o", .stop = stop.get_token()},
                           [&](std::span<const std::byte>) { stop.request_stop(); });
              }),
              HasSubstr("given up: " + server.url() + "/o"));
  // Earlier than the limit of a stalled connection would end it.
  EXPECT_LT(std::chrono::steady_clock::now() - start, quick_retries().stall / 2);
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST(HttpStore, NeitherWritesNorLists) {
  const TestHttpServer server(std::vector<TestReply>{{}});
  const HttpStore store(server.url() + "/a", quick_retries());
  const ErrorDetails write = error_of([&] { store.write("o", "/none"); });
  EXPECT_EQ(write.path, server.url() + "/a/o");
  EXPECT_THAT(write.hint, HasSubstr("s3://"));
  const ErrorDetails list = error_of([&] { static_cast<void>(store.list()); });
  EXPECT_EQ(list.path, server.url() + "/a");
  EXPECT_THAT(list.found, HasSubstr("lists nothing"));
  EXPECT_EQ(server.requests().size(), 0U);
}

}  // namespace
}  // namespace stoker
