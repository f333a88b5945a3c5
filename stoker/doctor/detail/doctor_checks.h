// The doctor's checks, one function each. They read what was examined and append findings; the
// order in which they run does not matter, because the findings are sorted at the end.
#pragma once

#include <span>
#include <vector>

#include "stoker/data/sources/image_folder.h"
#include "stoker/doctor/doctor.h"

namespace stoker::detail {

using Findings = std::vector<Finding>;

// Of each image by itself.
void check_decoding(const Diagnosis& diagnosis, Findings& out);
void check_extensions(const Diagnosis& diagnosis, Findings& out);
void check_colour_modes(const Diagnosis& diagnosis, Findings& out);
void check_sizes(const Diagnosis& diagnosis, const DoctorOptions& options, Findings& out);
void check_orientation(const Diagnosis& diagnosis, Findings& out);

// Of the classes.
void check_empty_classes(const Diagnosis& diagnosis, Findings& out);
void check_classes_of_parts(const Diagnosis& diagnosis, Findings& out);
void check_balance(const Diagnosis& diagnosis, const DoctorOptions& options, Findings& out);

// `prefix` is the part's folder, relative to the examined one.
void check_ignored(std::span<const IgnoredPath> ignored, const std::string& prefix, Findings& out);

// Of images against each other; in doctor_duplicates.cc.
void check_duplicates(const Diagnosis& diagnosis, Findings& out);
void check_near_duplicates(const Diagnosis& diagnosis, const DoctorOptions& options, Findings& out);

}  // namespace stoker::detail
