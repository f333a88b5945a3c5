// The files of tests/golden/images.tsv, which tests/golden/make_images.py wrote with other
// programs: TIFF, BMP and PNM of every kind, with checksums of their pixels.
#pragma once

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "stoker/core/test_files.h"

namespace stoker::test {

struct GoldenImage {
  std::string name, format;  // "tiff", "bmp", "pnm"
  int page = 0;
  std::string expected;  // "ok", else words of the error
  std::string size;      // "13x7"
  int orientation = 1;
  // Of 8-bit RGB, grey and RGBA, then of 16-bit RGB, grey and RGBA.
  std::array<std::string, 6> checksums;
  Bytes bytes;

  [[nodiscard]] bool good() const { return expected == "ok"; }
};

inline GoldenImage golden_image(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char c : line) {
    if (c == '\t') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  GoldenImage image{.name = fields.at(0),
                    .format = fields.at(1),
                    .page = std::stoi(fields.at(2)),
                    .expected = fields.at(3),
                    .size = fields.at(4),
                    .orientation = fields.at(5).empty() ? 1 : std::stoi(fields.at(5)),
                    .checksums = {},
                    .bytes = bytes_of_base64(fields.at(12))};
  for (std::size_t i = 0; i < image.checksums.size(); ++i) image.checksums[i] = fields.at(6 + i);
  return image;
}

inline std::vector<GoldenImage> golden_images() {
  std::ifstream file(std::filesystem::path(source_dir()) / "tests/golden/images.tsv");
  std::vector<GoldenImage> images;
  for (std::string line; std::getline(file, line);) images.push_back(golden_image(line));
  return images;
}

// One file that is decoded, by its name.
inline Bytes golden_file(const std::string& name) {
  for (const GoldenImage& image : golden_images()) {
    if (image.name == name) return image.bytes;
  }
  ADD_FAILURE() << "no " << name << " in images.tsv";
  return {};
}

}  // namespace stoker::test
