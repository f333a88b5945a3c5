#include "stoker/store/detail/credential_replies.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stoker/core/error.h"
#include "stoker/store/detail/small_xml.h"

namespace stoker::detail {
namespace {

using nlohmann::json;
using Moment = std::chrono::system_clock::time_point;

[[noreturn]] void fail_reply(std::string found) {
  throw Error({.what = "cannot understand the credentials", .found = std::move(found)});
}

json object_in(std::string_view text) {
  if (text.size() > kMostCredentialBytes) fail_reply("more than 64 KB");
  json parsed = json::parse(text, nullptr, false);
  if (!parsed.is_object()) fail_reply("no JSON object");
  return parsed;
}

// "" where it is missing.
std::string text_in(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return "";
  if (!found->is_string()) fail_reply(fmt::format("{} that is no text", name));
  return found->get<std::string>();
}

Moment time_of(const std::string& text, const char* name) {
  const auto time = parse_aws_time(text);
  if (!time) fail_reply(fmt::format("{} that is no time", name));
  return *time;
}

IssuedCredentials checked(IssuedCredentials issued) {
  if (issued.keys.key_id.empty() || issued.keys.secret.empty()) {
    fail_reply("no access key id, or no secret access key");
  }
  check_credentials(issued.keys);
  return issued;
}

IssuedCredentials sso_credentials(const json& object) {
  const auto role = object.find("roleCredentials");
  if (role == object.end() || !role->is_object()) fail_reply("no roleCredentials");
  const auto expires = role->find("expiration");
  constexpr std::int64_t kLatest = std::int64_t{4'102'444'800'000};  // the year 2100
  if (expires == role->end() || !expires->is_number_integer() || *expires < 0 ||
      *expires > kLatest) {
    fail_reply("no time of expiration");
  }
  return {.keys = {text_in(*role, "accessKeyId"), text_in(*role, "secretAccessKey"),
                   text_in(*role, "sessionToken")},
          .expires = Moment(std::chrono::milliseconds(expires->get<std::int64_t>()))};
}

// Digits and marks of a time, from the front of a text.
class TimeReader {
 public:
  explicit TimeReader(std::string_view text) : rest_(text) {}
  // Of exactly this number of digits; otherwise the whole text is wrong.
  int number(std::size_t digits) {
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (rest_.empty() || rest_.front() < '0' || rest_.front() > '9') {
        failed_ = true;
        return 0;
      }
      value = value * 10 + (rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    return value;
  }
  bool take(std::string_view mark) {
    if (!rest_.starts_with(mark)) return false;
    rest_.remove_prefix(mark.size());
    return true;
  }
  void expect(std::string_view mark) { failed_ = !take(mark) || failed_; }
  void skip_digits() {
    while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') rest_.remove_prefix(1);
  }
  [[nodiscard]] bool is_whole() const { return !failed_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace

IssuedCredentials parse_json_credentials(std::string_view text, CredentialReply kind) {
  const json object = object_in(text);
  if (kind == CredentialReply::kSso) return checked(sso_credentials(object));
  if (kind == CredentialReply::kMetadata && text_in(object, "Code") != "Success") {
    fail_reply("a code other than Success");
  }
  if (kind == CredentialReply::kProcess) {
    const auto version = object.find("Version");
    if (version == object.end() || *version != 1) fail_reply("no \"Version\": 1");
  }
  const char* token = kind == CredentialReply::kProcess ? "SessionToken" : "Token";
  IssuedCredentials issued{.keys = {text_in(object, "AccessKeyId"),
                                    text_in(object, "SecretAccessKey"), text_in(object, token)}};
  if (const std::string expires = text_in(object, "Expiration"); !expires.empty()) {
    issued.expires = time_of(expires, "Expiration");
  }
  return checked(std::move(issued));
}

IssuedCredentials parse_sts_credentials(std::string_view xml) {
  const auto texts = parse_xml_texts(xml);
  const auto text_of = [&](const char* name) {
    const auto found =
        texts.find(fmt::format("AssumeRoleWithWebIdentityResponse/AssumeRoleWithWebIdentityResult/"
                               "Credentials/{}",
                               name));
    return found == texts.end() ? "" : found->second;
  };
  return checked(
      {.keys = {text_of("AccessKeyId"), text_of("SecretAccessKey"), text_of("SessionToken")},
       .expires = time_of(text_of("Expiration"), "Expiration")});
}

SsoToken parse_sso_token(std::string_view text) {
  const json object = object_in(text);
  SsoToken token{.token = text_in(object, "accessToken"),
                 .expires = time_of(text_in(object, "expiresAt"), "expiresAt")};
  if (token.token.empty()) fail_reply("no accessToken");
  check_credentials({.key_id = "-", .secret = "-", .session_token = token.token});
  return token;
}

std::optional<Moment> parse_aws_time(std::string_view text) {
  TimeReader reader(text);
  using std::chrono::hours, std::chrono::minutes, std::chrono::seconds;
  const std::chrono::year year(reader.number(4));
  reader.expect("-");
  const std::chrono::month month(static_cast<unsigned>(reader.number(2)));
  reader.expect("-");
  const std::chrono::day day(static_cast<unsigned>(reader.number(2)));
  reader.expect("T");
  const int hour = reader.number(2);
  reader.expect(":");
  const int minute = reader.number(2);
  reader.expect(":");
  const int second = reader.number(2);
  if (reader.take(".")) reader.skip_digits();
  minutes offset{0};
  const bool east = reader.take("+");
  if (east || reader.take("-")) {
    offset = hours(reader.number(2));
    reader.expect(":");
    offset += minutes(reader.number(2));
  } else if (!reader.take("Z")) {
    reader.expect("UTC");
  }
  const std::chrono::year_month_day date(year, month, day);
  if (!reader.is_whole() || !date.ok() || hour > 23 || minute > 59 || second > 60 ||
      year < std::chrono::year(1970)) {
    return std::nullopt;
  }
  // Some write the year 9999 for "never", which the clock's nanoseconds cannot count.
  constexpr std::chrono::year kLastYear(2200);
  if (year > kLastYear) return Moment(std::chrono::sys_days(kLastYear / 1 / 1));
  return Moment(std::chrono::sys_days(date) + hours(hour) + minutes(minute) + seconds(second) -
                (east ? offset : -offset));
}

}  // namespace stoker::detail
