// The style sheet and the script of the reports' pages, which lie as files in assets/ and are part
// of the program. Views of constants.
#pragma once

#include <string_view>

namespace stoker {

[[nodiscard]] std::string_view report_style();
[[nodiscard]] std::string_view report_script();
// In hexadecimal digits: the page's security policy names it, and no other script runs.
[[nodiscard]] std::string_view report_script_sha256();

}  // namespace stoker
