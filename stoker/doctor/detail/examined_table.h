// A table of images, as the doctor examines it: what its rows name, and the lines of findings.
#pragma once

#include <filesystem>

#include "stoker/data/sources/table_columns.h"
#include "stoker/doctor/doctor.h"

namespace stoker::detail {

// Adds the parts and images of a table; images that come twice too. A part has the classes that
// occur in it. Throws Error where the table cannot be read.
void add_table(Diagnosis& diagnosis, const std::filesystem::path& table,
               const TableColumns& columns);

// Sets the lines of all findings. The findings of a kind must still be in the order of the images.
void add_lines(Diagnosis& diagnosis);

}  // namespace stoker::detail
