// Lines at the end of a run's logs. One thread for a file at a time.
#pragma once

#include <filesystem>
#include <string_view>

namespace stoker {

// Makes the file where it is missing. A symbolic link or a pipe in its place is replaced
// (core/own_folder.h). Throws Error.
void append_to_file(const std::filesystem::path& path, std::string_view text);

}  // namespace stoker
