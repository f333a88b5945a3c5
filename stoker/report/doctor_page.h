// The doctor's findings as one HTML file that needs nothing else: images are inside, there is no
// script, and nothing is fetched. What is drawn is given as plain values; the caller decides how
// much of it, because every image takes some 5 kB.
// A function without state, safe from any thread. Text is escaped here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/image/image.h"

namespace stoker {

enum class PageSeverity : std::uint8_t { kNote, kWarning, kError };

struct PageImage {
  std::string path = {};
  std::string caption = {};  // such as "train, dirty, 341x256 JPEG"
  Image thumbnail = {};      // without pixels: a box says that it cannot be shown
};

struct PageFinding {
  std::string detail = {};
  std::vector<PageImage> images = {};
  std::vector<std::string> more_paths = {};  // named without an image
  std::uint64_t omitted = 0;                 // neither shown nor named
};

// All findings of one kind.
struct PageSection {
  PageSeverity severity = PageSeverity::kNote;
  std::string title = {}, advice = {};
  std::uint64_t count = 0;                 // of findings, shown or not
  std::vector<PageFinding> findings = {};  // shown with images
  std::vector<std::string> plain = {};     // shown as lines
  std::uint64_t omitted = 0;               // not shown at all
};

// How many images a class has in each part.
struct PageClass {
  std::string name = {};
  std::vector<std::uint64_t> counts = {};  // as many as part_names
};

struct DoctorPage {
  std::string folder = {};
  std::uint64_t images = 0;
  std::vector<std::string> part_names = {};
  std::vector<std::uint64_t> part_images = {};  // as many as part_names
  std::vector<PageClass> classes = {};          // none: a folder without classes
  std::uint64_t classes_omitted = 0;
  std::vector<PageSection> sections = {};
  std::string all_findings_file = {};  // where those omitted are, for the reader
};

[[nodiscard]] std::string doctor_page(const DoctorPage& page);

}  // namespace stoker
