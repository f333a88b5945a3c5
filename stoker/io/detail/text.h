// Text that comes out of a file.
#pragma once

#include <string>
#include <string_view>

namespace stoker::detail {

// Text of a file for a message: quoted, cut to a line, with anything but ASCII as \xNN, so that a
// file cannot send commands to a terminal.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace stoker::detail
