// libFuzzer target: what issuers of credentials answer, and AWS's files. Any text is an Error, or
// credentials that can be sent in a header.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "stoker/core/error.h"
#include "stoker/store/detail/aws_profile.h"
#include "stoker/store/detail/credential_process.h"
#include "stoker/store/detail/credential_replies.h"
#include "stoker/store/detail/small_xml.h"

namespace {

namespace detail = stoker::detail;

template <class Action>
void allow_errors(const Action& action) {
  try {
    action();
  } catch (const stoker::Error&) {
    return;
  }
}

void check_issued(const stoker::IssuedCredentials& issued) {
  try {
    stoker::check_credentials(issued.keys);
  } catch (const stoker::Error&) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const auto kind : {detail::CredentialReply::kContainer, detail::CredentialReply::kMetadata,
                          detail::CredentialReply::kProcess, detail::CredentialReply::kSso}) {
    allow_errors([&] { check_issued(detail::parse_json_credentials(text, kind)); });
  }
  allow_errors([&] { check_issued(detail::parse_sts_credentials(text)); });
  allow_errors([&] { static_cast<void>(detail::parse_xml_texts("<A>" + text + "</A>")); });
  allow_errors([&] { static_cast<void>(detail::parse_sso_token(text)); });
  allow_errors([&] { static_cast<void>(detail::split_command(text)); });
  static_cast<void>(detail::parse_aws_time(text));
  static_cast<void>(detail::parse_aws_file(text));
  return 0;
}
