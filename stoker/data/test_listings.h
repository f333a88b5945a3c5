// What the tests of listings share: folders full of files, and listings as plain lists.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "stoker/core/test_files.h"
#include "stoker/data/sources/image_folder.h"

namespace stoker {

// Each file holds its own name, so that no two have the same bytes.
inline void write_files(const TempFolder& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names) folder.write(name, Bytes(name.begin(), name.end()));
}

inline std::vector<std::string> paths_of(const ImageListing& listing) {
  std::vector<std::string> paths;
  for (const ListedImage& image : listing.images) paths.push_back(image.path);
  return paths;
}

// "path: reason"
inline std::vector<std::string> ignored_of(const ImageListing& listing) {
  std::vector<std::string> lines;
  for (const IgnoredPath& ignored : listing.ignored) {
    lines.push_back(ignored.path + ": " + ignored.reason);
  }
  return lines;
}

}  // namespace stoker
