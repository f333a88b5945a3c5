// What `stoker doctor` writes: all findings as JSON, the page with images, the clean list.
// Functions without state. The page decodes again what it shows: at most 24 images a kind.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "stoker/doctor/doctor.h"
#include "stoker/report/doctor_page.h"

namespace stoker {

// The same text for the same files, whoever examined them and when. Bytes of names that are not
// UTF-8 become the replacement character.
[[nodiscard]] std::string doctor_json(const Diagnosis& diagnosis);

// `all_findings` is where the page sends the reader for what it has no room for.
[[nodiscard]] DoctorPage make_doctor_page(const Diagnosis& diagnosis, const DecodeLimits& limits,
                                          const std::string& all_findings);

// A path of the finding, with its line where a table names it: "a.png (line 3)".
[[nodiscard]] std::string shown_path(const Finding& finding, std::size_t place);

struct CleanList {
  std::string text;           // a line for each image: path, and with classes a tab and the class
  std::size_t images = 0;     // lines
  std::size_t unnamable = 0;  // omitted because a tab or line break in a name would break the list
};

// Paths are relative to the folder that `list` will lie in.
[[nodiscard]] CleanList make_clean_list(const Diagnosis& diagnosis,
                                        const std::filesystem::path& list);

}  // namespace stoker
