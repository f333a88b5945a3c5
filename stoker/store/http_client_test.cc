#include "stoker/store/http_client.h"

#include <chrono>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/store/test_http_server.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Taken {
  HttpReply reply;
  std::vector<std::string> events;  // "head 200", then the pieces of the body in one text
};

// Appends to the last event from the second piece on: how bytes come in pieces is the kernel's.
ByteSink into(std::vector<std::string>& events) {
  return [&events, begun = false](std::span<const std::byte> bytes) mutable {
    if (!std::exchange(begun, true)) events.emplace_back();
    events.back().append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
}

Taken exchange(const HttpClient& client, const HttpRequest& request) {
  Taken taken;
  taken.reply = client.perform(
      request,
      [&](const HttpReply& reply) { taken.events.push_back(fmt::format("head {}", reply.status)); },
      into(taken.events));
  return taken;
}

// The reason of the attempt, which must fail.
std::string failure_of(const std::function<void()>& action, bool worth_retrying = true) {
  try {
    action();
  } catch (const AttemptFailed& failure) {
    EXPECT_EQ(failure.worth_retrying, worth_retrying) << failure.what();
    return failure.what();
  }
  ADD_FAILURE() << "Expected AttemptFailed";
  return {};
}

TEST(HttpClient, GivesTheHeadOnceAndThenTheBody) {
  const TestHttpServer server(std::vector<TestReply>{
      {.body = std::string(3'000'000, 'x')}, {.status = 206, .body = "part"}, {.body = ""}});
  const HttpClient client(quick_retries());
  EXPECT_THAT(exchange(client, {.url = server.url() + "/a"}).events,
              ElementsAre("head 200", std::string(3'000'000, 'x')));
  EXPECT_THAT(exchange(client, {.url = server.url() + "/a"}).events,
              ElementsAre("head 206", "part"));
  EXPECT_THAT(exchange(client, {.url = server.url() + "/a"}).events, ElementsAre("head 200"));
}

TEST(HttpClient, KnowsHeadersByTheirNamesInLowerCase) {
  const TestHttpServer server(std::vector<TestReply>{
      {.headers = {"ETag:   \"1\"", "X-Size: 12", "X-Word: 12a"},
       .interim = "HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\nETag: \"0\"\r\n\r\n"}});
  const HttpReply reply = exchange(HttpClient(quick_retries()), {.url = server.url()}).reply;
  EXPECT_EQ(reply.header("etag"), "\"1\"");
  EXPECT_EQ(reply.number("x-size"), 12U);
  EXPECT_EQ(reply.number("x-word"), std::nullopt);
  EXPECT_EQ(reply.number("x-none"), std::nullopt);
  EXPECT_EQ(reply.header("x-early"), "");  // of another head than the reply's
}

TEST(HttpClient, DropsTheBodyOfAnErrorButForItsCode) {
  const TestHttpServer server(std::vector<TestReply>{
      {.status = 404, .body = "<Error><Code>NoSuchKey</Code><Key>secret</Key></Error>"},
      {.status = 403, .body = "<Code>Access<b>Denied</Code>"},
      {.status = 503, .body = "no XML"}});
  const HttpClient client(quick_retries());
  const Taken missing = exchange(client, {.url = server.url()});
  EXPECT_EQ(missing.reply.status, 404);
  EXPECT_EQ(missing.reply.error_code, "NoSuchKey");
  EXPECT_THAT(missing.events, ElementsAre());
  EXPECT_EQ(exchange(client, {.url = server.url()}).reply.error_code, "Access");
  EXPECT_EQ(exchange(client, {.url = server.url()}).reply.error_code, "");
}

TEST(HttpClient, SendsMethodTargetHeadersAndFile) {
  const TestHttpServer server(std::vector<TestReply>{{.body = "12345"}});
  const TempFolder folder;
  const HttpClient client(quick_retries());
  const HttpReply head =
      exchange(client, {.method = "HEAD", .url = server.url() + "/a?b=c", .headers = {"X-A: 1"}})
          .reply;
  EXPECT_EQ(head.number("content-length"), 5U);
  const Bytes content(2'000'000, 'y');  // more than the client sends unasked by default
  exchange(client,
           {.method = "PUT", .url = server.url() + "/put", .body = folder.write("file", content)});
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].method + " " + requests[0].target, "HEAD /a?b=c");
  EXPECT_EQ(requests[0].header("x-a"), "1");
  EXPECT_EQ(requests[1].method + " " + requests[1].target, "PUT /put");
  EXPECT_EQ(requests[1].header("content-length"), "2000000");
  EXPECT_FALSE(requests[1].headers.contains("expect"));
  EXPECT_FALSE(requests[1].headers.contains("x-a"));  // those of one request are not kept
  EXPECT_TRUE(requests[1].body == std::string(content.begin(), content.end()));
}

TEST(HttpClient, RefusesAFileThatCannotBeRead) {
  const TestHttpServer server(std::vector<TestReply>{{}});
  const HttpClient client(quick_retries());
  EXPECT_THAT(message_of([&] {
                exchange(client, {.method = "PUT", .url = server.url(), .body = "/none"});
              }),
              HasSubstr("cannot read the file: /none"));
}

TEST(HttpClient, TellsWhereARedirectLeadsAndDoesNotFollowIt) {
  const TestHttpServer server(
      std::vector<TestReply>{{.status = 307, .headers = {"Location: /b?c"}, .body = "moved"},
                             {.status = 301, .headers = {"Location: http://other:1/x"}}});
  const HttpClient client(quick_retries());
  const Taken near = exchange(client, {.url = server.url() + "/a"});
  EXPECT_EQ(near.reply.redirect, server.url() + "/b?c");
  EXPECT_THAT(near.events, ElementsAre());
  EXPECT_EQ(exchange(client, {.url = server.url()}).reply.redirect, "http://other:1/x");
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST(HttpClient, FailsWhereABodyEndsEarlyOrNobodyAnswers) {
  const TestHttpServer server(std::vector<TestReply>{{.body = "0123456789", .cut_after = 4}});
  const HttpClient client(quick_retries());
  std::vector<std::string> events;
  failure_of([&] {
    client.perform(
        {.url = server.url()}, [](const HttpReply&) {}, into(events));
  });
  EXPECT_THAT(events, ElementsAre("0123"));
  std::string gone;
  {
    const TestHttpServer closed(std::vector<TestReply>{{}});
    gone = closed.url();
  }
  failure_of([&] { exchange(client, {.url = gone}); });
}

TEST(HttpClient, SpeaksNothingButHttp) {
  const TempFolder folder;
  const auto file = folder.write("file", {1, 2, 3});
  failure_of([&] { exchange(HttpClient(quick_retries()), {.url = "file://" + file.string()}); });
}

TEST(HttpClient, LetsExceptionsOfHeadAndSinkThrough) {
  const TestHttpServer server(std::vector<TestReply>{{.body = "body"}});
  const HttpClient client(quick_retries());
  const auto no_head = [](const HttpReply&) { throw std::out_of_range("head"); };
  const auto no_sink = [](std::span<const std::byte>) { throw std::length_error("sink"); };
  EXPECT_THROW(client.perform({.url = server.url()}, no_head, no_sink), std::out_of_range);
  EXPECT_THROW(client.perform(
                   {.url = server.url()}, [](const HttpReply&) {}, no_sink),
               std::length_error);
  EXPECT_THAT(exchange(client, {.url = server.url()}).events, ElementsAre("head 200", "body"));
}

TEST(HttpClient, EndsAnExchangeThatIsToStop) {
  const TestHttpServer server(
      std::vector<TestReply>{{.body = "0123456789", .cut_after = 4, .hang = true}});
  std::stop_source stop;
  const HttpClient client(quick_retries());
  EXPECT_THAT(failure_of([&] {
                client.perform(
                    {.url = server.url(), .stop = stop.get_token()}, [](const HttpReply&) {},
                    [&](std::span<const std::byte>) { stop.request_stop(); });
              }),
              HasSubstr("abort"));  // and not by the limit of a stalled connection
}

TEST(HttpClient, KeepsConnectionsOnePerThreadAtATime) {
  const TestHttpServer server(std::vector<TestReply>{{.body = "body"}});
  const HttpClient client(quick_retries());
  for (int i = 0; i < 5; ++i) exchange(client, {.url = server.url()});
  EXPECT_EQ(server.connections(), 1U);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 20; ++n) {
          EXPECT_THAT(exchange(client, {.url = server.url()}).events,
                      ElementsAre("head 200", "body"));
        }
      });
    }
  }
  EXPECT_LE(server.connections(), 4U);
  EXPECT_EQ(server.requests().size(), 85U);
}

TEST(HttpClient, SendsContentFromMemory) {
  const TestHttpServer server(std::vector<TestReply>{{.body = "taken"}});
  const HttpClient client(quick_retries());
  EXPECT_THAT(
      exchange(client, {.method = "POST", .url = server.url() + "/a", .content = "a=b"}).events,
      ElementsAre("head 200", "taken"));
  exchange(client, {.method = "PUT", .url = server.url() + "/b", .content = ""});
  exchange(client, {.url = server.url() + "/c"});
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[0].method + " " + requests[0].body, "POST a=b");
  EXPECT_EQ(requests[1].method + " " + requests[1].header("content-length"), "PUT 0");
  EXPECT_EQ(requests[2].method + " " + requests[2].header("content-length"), "GET ");
}

TEST(HttpClient, GivesUpAReplyThatIsNotCompleteInTime) {
  const TestHttpServer server([](const TestRequest&) -> TestReply {
    return {.body = "0123456789", .cut_after = 4, .hang = true};
  });
  const HttpClient client(quick_retries());
  const auto start = std::chrono::steady_clock::now();
  failure_of([&] { exchange(client, {.url = server.url(), .whole = std::chrono::seconds(1)}); });
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(8));
}

// A host may have got another address, which the handles that are kept do not know.
TEST(HttpClient, LooksTheHostUpAgainAfterAFailure) {
  const TestHttpServer server(std::vector<TestReply>{{.body = "1"}});
  const HttpClient client(quick_retries());
  exchange(client, {.url = server.url()});
  exchange(client, {.url = server.url()});
  EXPECT_EQ(server.connections(), 1U);
  failure_of([&] { exchange(client, {.url = "http://127.0.0.1:1"}); });
  exchange(client, {.url = server.url()});
  EXPECT_EQ(server.connections(), 2U);
}

TEST(HttpClient, DoesNotKeepAConnectionThatWasInUseDuringAFailure) {
  const TestHttpServer server(std::vector<TestReply>{{.body = "1"}});
  const HttpClient client(quick_retries());
  client.perform(
      {.url = server.url()},
      [&](const HttpReply&) {
        failure_of([&] { exchange(client, {.url = "http://127.0.0.1:1"}); });
      },
      [](std::span<const std::byte>) {});
  exchange(client, {.url = server.url()});
  EXPECT_EQ(server.connections(), 2U);
  exchange(client, {.url = server.url()});
  EXPECT_EQ(server.connections(), 2U);
}

}  // namespace
}  // namespace stoker
