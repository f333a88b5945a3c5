#include "stoker/store/detail/http_transfer.h"

#include <functional>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stoker::detail {
namespace {

using testing::HasSubstr;

// "again: reason", or "never: reason" where another attempt would fail as well.
std::string failure_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const AttemptFailed& failure) {
    return (failure.worth_retrying ? "again: " : "never: ") + std::string(failure.what());
  }
  return "no failure";
}

std::string leads_to(const std::string& from, const std::string& location, OtherHosts others) {
  const RedirectTarget next = redirect_target(parse_url(from), location, others);
  return next.server.origin() + " " + next.target;
}

TEST(RedirectTarget, HasTheServerAndWhatIsSentToIt) {
  EXPECT_EQ(leads_to("http://a:1", "http://a:1/b%20c?d=/e", OtherHosts::kRefuse),
            "http://a:1 /b%20c?d=/e");
  EXPECT_EQ(leads_to("http://a", "http://b", OtherHosts::kFollow), "http://b /");
  EXPECT_EQ(leads_to("http://a", "https://a/b", OtherHosts::kFollow), "https://a /b");
  EXPECT_EQ(leads_to("http://a", "https://a/b", OtherHosts::kRefuse), "https://a /b");
  EXPECT_EQ(leads_to("https://Data.Example", "https://data.example/b", OtherHosts::kRefuse),
            "https://data.example /b");
}

TEST(RedirectTarget, IsAnotherHostOnlyWhereTheseAreFollowed) {
  for (const char* other : {"https://b/o", "https://a:2/o", "https://a.b/o", "http://a/o"}) {
    EXPECT_THAT(failure_of([&] { leads_to("https://a", other, OtherHosts::kRefuse); }),
                HasSubstr("never: a redirect to another host"))
        << other;
    EXPECT_THAT(failure_of([&] { leads_to("https://a", other, OtherHosts::kRefuseSigned); }),
                HasSubstr("which is not followed with credentials"))
        << other;
  }
  EXPECT_EQ(leads_to("https://a", "https://b/o", OtherHosts::kFollow), "https://b /o");
  EXPECT_EQ(leads_to("https://a", "https://a:443/o", OtherHosts::kRefuse), "https://a /o");
}

TEST(RedirectTarget, IsNeverHttpWhenItComesFromHttps) {
  for (const char* plain : {"http://a/o", "http://b/o", "http://a:443/o"}) {
    EXPECT_THAT(failure_of([&] { leads_to("https://a", plain, OtherHosts::kFollow); }),
                HasSubstr("never: a redirect from https to http"))
        << plain;
  }
}

TEST(CheckStatus, TellsFailuresThatPassFromThoseThatStay) {
  for (const long status : {200, 204, 206}) EXPECT_NO_THROW(check_status({.status = status}));
  for (const long status : {408, 429, 500, 502, 503, 504}) {
    EXPECT_EQ(failure_of([&] { check_status({.status = status}); }),
              fmt::format("again: HTTP status {}", status));
  }
  for (const long status : {304, 400, 401, 403, 404, 412, 416}) {
    EXPECT_EQ(failure_of([&] { check_status({.status = status, .error_code = "Code"}); }),
              fmt::format("never: HTTP status {} (Code)", status));
  }
}

TEST(CheckStatus, PassesOnWhenTheServerWantsToBeAskedAgain) {
  const auto asked_for = [](const char* value) -> std::optional<std::chrono::seconds> {
    try {
      check_status({.status = 429, .headers = {{"retry-after", value}}});
    } catch (const AttemptFailed& failure) {
      return failure.retry_after;
    }
    return std::nullopt;
  };
  EXPECT_EQ(asked_for("0"), std::chrono::seconds(0));
  EXPECT_EQ(asked_for("3599"), std::chrono::seconds(3599));
  EXPECT_EQ(asked_for("3600"), std::nullopt);  // nobody waits for an hour
  EXPECT_EQ(asked_for("Wed, 21 Oct 2015 07:28:00 GMT"), std::nullopt);
}

}  // namespace
}  // namespace stoker::detail
