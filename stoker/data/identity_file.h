// A DataIdentity as a file of a run's folder: its text, gzipped.
// Written as a whole or not at all.
#pragma once

#include <filesystem>
#include <optional>

#include "stoker/data/data_identity.h"

namespace stoker {

inline constexpr const char* kIdentityFile = "data_identity.tsv.gz";

// Throws Error where it cannot be written.
void write_identity(const std::filesystem::path& path, const DataIdentity& identity);

// Nothing where the file does not exist or is damaged.
[[nodiscard]] std::optional<DataIdentity> read_identity(const std::filesystem::path& path);

}  // namespace stoker
