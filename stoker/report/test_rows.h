// Small grey images as text, for tests.
#pragma once

#include <string>
#include <vector>

#include "stoker/image/image.h"

namespace stoker::test {

using Rows = std::vector<std::string>;

// One line a row: '#' where a pixel is not black.
inline Rows as_rows(const Image& image) {
  Rows rows;
  for (int y = 0; y < image.shape().height; ++y) {
    std::string& row = rows.emplace_back();
    for (int x = 0; x < image.shape().width; ++x) row += image.at(y, x) != 0 ? '#' : '.';
  }
  return rows;
}

}  // namespace stoker::test
