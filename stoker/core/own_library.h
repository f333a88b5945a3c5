// Libraries of ours that a program loads where it needs them, such as those with CUDA in them.
#pragma once

#include <string>
#include <vector>

namespace stoker {

// Where such a library may be: in lib/ beside the program (a build), in ../lib/stoker (an
// installation), beside the program, in stoker/ beside or above our shared library (another program
// that uses it), and at last its bare name, which the loader looks for. Only existing files, but
// for the last.
[[nodiscard]] std::vector<std::string> own_library_paths(const std::string& file_name);

// Opens the first that can be opened, with dlopen's flags; nullptr where none can, and dlerror()
// says why.
[[nodiscard]] void* open_own_library(const std::string& file_name, int flags);

}  // namespace stoker
