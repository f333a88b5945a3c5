// Packages of Python environments that hold libraries for us.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace stoker {

// lib/python3.*/site-packages/NAME for every Python in the environment, which can have several; in
// their order, whether or not the package is there.
[[nodiscard]] std::vector<std::filesystem::path> python_packages(
    const std::filesystem::path& environment, const std::string& name);

}  // namespace stoker
