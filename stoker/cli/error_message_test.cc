#include "stoker/cli/error_message.h"

#include <filesystem>
#include <new>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/cli/option_text.h"
#include "stoker/core/error.h"

namespace stoker {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(ErrorMessage, OursAndTheSystemsKeepTheirWords) {
  EXPECT_EQ(error_message(Error({.what = "cannot read it", .found = "nothing"})),
            "cannot read it: nothing");
  EXPECT_THAT(
      error_message(std::filesystem::filesystem_error(
          "cannot create directory", "/x", std::make_error_code(std::errc::permission_denied))),
      AllOf(HasSubstr("Permission denied"), HasSubstr("/x"), Not(HasSubstr("internal"))));
  EXPECT_EQ(error_message(std::bad_alloc()), "out of memory");
}

TEST(ErrorMessage, CausesFollowAndOptionsAreFlags) {
  set_program_flags({"on-error", "max-pixels"});
  EXPECT_EQ(error_message(Error({.what = "cannot read it",
                                 .hint = "Pass `on_error` skip",
                                 .causes = {{.what = "`max_pixels` is less"}}})),
            "cannot read it. Pass --on-error skip\n  cause: --max-pixels is less");
  set_program_flags({});
}

TEST(ErrorMessage, AnythingElseIsADefectThatAsksForAReport) {
  const std::string text = error_message(std::out_of_range("vector::_M_range_check: __n"));
  EXPECT_THAT(text, AllOf(HasSubstr("internal error"), HasSubstr("_M_range_check"),
                          HasSubstr("stoker " STOKER_VERSION), HasSubstr("report")));
}

}  // namespace
}  // namespace stoker
