// Examines a folder or table of images before anyone trains on it: files that cannot be decoded,
// odd ones, the same image twice, in two classes or in two parts, classes that are too small or
// missing.
//
// diagnose() decodes every image once, in parallel, and keeps about 1,300 bytes of each. What it
// finds, and in which order, depends on the files alone, not on the number of workers. Nothing in
// the folder is changed. Plain values; no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/sources/table_columns.h"
#include "stoker/doctor/image_facts.h"

namespace stoker {

enum class Severity : std::uint8_t { kNote, kWarning, kError };
[[nodiscard]] std::string_view severity_name(Severity severity);

// In the order in which they are reported: errors, then warnings, then notes.
enum class FindingKind : std::uint8_t {
  kUnreadable,
  kTruncated,
  kTooLarge,
  kUnsupported,
  kTwoLabels,
  kLeak,
  kUnknownClass,
  kEmptyClass,
  kSuspectLabel,
  kNearTwoLabels,
  kNearLeak,
  kDuplicate,
  kMissingClass,
  kStrayImage,
  kImbalance,
  kWrongExtension,
  kCmyk,
  kTransparency,
  kAnimated,
  kTiny,
  kElongated,
  kBlank,
  kDarkSixteenBit,
  kNearDuplicate,
  kSixteenBit,
  kPalette,
  kMixedColour,
  kRotated,
  kIgnored,
};
inline constexpr std::size_t kFindingKinds = static_cast<std::size_t>(FindingKind::kIgnored) + 1;

struct FindingTraits {
  std::string_view name;  // for programs: "near_leak"
  Severity severity;
  std::string_view title;   // for people: "Almost the same image in two parts"
  std::string_view advice;  // what to do
};
[[nodiscard]] const FindingTraits& traits_of(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::kIgnored;
  std::vector<std::string> paths;         // of files or folders, relative to the examined folder
  std::string detail;                     // what was found
  std::vector<std::uint32_t> lines = {};  // of the table, for each path; empty where there is none
  bool operator==(const Finding&) const = default;
};

// One part of the dataset; all of it, called "train", where the folder has no parts.
struct ExaminedPart {
  std::string name;    // train, validation, test
  std::string folder;  // relative to the examined one, with '/' at its end; "" where it is that one
  std::vector<std::string> class_names;
};

struct ExaminedImage {
  std::string path;        // relative to the examined folder, with '/'
  std::size_t part = 0;    // place in Diagnosis::parts
  std::int32_t label = 0;  // place in the part's class_names, or kNoClass
  std::uint64_t bytes = 0;
  ImageFacts facts;
  std::uint32_t line = 0;   // of the table; 0: there is none
  std::string values = {};  // of a table: its classes where it has several, or its numbers
};

struct Diagnosis {
  std::filesystem::path folder;  // of a table, where it lies
  std::vector<ExaminedPart> parts;
  std::vector<ExaminedImage> images;  // by part, in the order of the listing
  std::vector<Finding> findings;      // by kind, then by path; suspect labels by rank
  std::filesystem::path table = {};   // empty: a folder was examined
  bool has_numbers = false;           // to predict: images that look alike may have others
};

// The class's name; empty where the image has none.
[[nodiscard]] std::string_view class_name_of(const Diagnosis& diagnosis,
                                             const ExaminedImage& image);

struct DoctorOptions {
  DecodeLimits limits = {};
  TableColumns table = {};
  int min_side = 32;          // smaller images are tiny
  double max_ratio = 4;       // of the longer side to the shorter
  double max_imbalance = 10;  // of the largest class to the smallest
  int near_distance = 8;      // bits of the hash, below 0: don't look for near-duplicates
  bool mirrored = false;      // a mirrored image is a near-duplicate too
  int workers = 1;
  // Called now and then, by the calling thread, with how many files are examined, and of how many.
  // What it throws ends the examination.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
};

// Of a folder or a table (data/sources/image_table.h). Throws Error where the folder cannot be
// listed or the table cannot be read; a bad image is a finding, and so is a file that a table names
// and that is missing.
[[nodiscard]] Diagnosis diagnose(const std::filesystem::path& data, const DoctorOptions& options);

// Places in `images` of what a training should take: the images of the first part (train) without
// those of error findings, and one of each set of duplicates. An image that a later part has too
// is omitted, so that the evaluation stays as it is.
[[nodiscard]] std::vector<std::size_t> clean_images(const Diagnosis& diagnosis);

}  // namespace stoker
