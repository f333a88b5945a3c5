// How reading an exported network fails.
#pragma once

#include <string>
#include <string_view>

namespace stoker::detail {

inline constexpr std::string_view kExportAgain =
    "The file is damaged, or of another version of PyTorch: export it again with "
    "scripts/export_network.py";

// Throws Error.
[[noreturn]] void fail_export(const std::string& file, std::string expected, std::string found,
                              std::string_view hint = kExportAgain);

}  // namespace stoker::detail
