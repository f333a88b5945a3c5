// A contact sheet: one row a sample, the original at the left, augmented versions beside it, the
// class name in front. For people to look at before they train.
// A function without state, safe from any thread; it keeps nothing of its input. Cost: the pixels
// of the sheet, at most kMaxPagePixels (page.h), checked before memory is taken.
#pragma once

#include <string>
#include <vector>

#include "stoker/image/image.h"

namespace stoker {

// images[0] is the original, the rest are augmented. Rows may differ in length and images in size:
// each is centred in its cell, and all cells are as large as the largest image.
struct ContactRow {
  std::string label;  // UTF-8; may be empty, shortened where it is very long
  std::vector<Image> images;
};

struct ContactSheetOptions {
  // Pixels of the sheet for a pixel of an image; 0 takes the least with cells of 64 or more.
  int zoom = 0;
  std::string title = {};  // none where empty
  // Title i stands above column i; the last one speaks for all columns that follow.
  std::vector<std::string> column_titles = {"original", "augmented"};
};

// Grey where all images are grey, else RGB. Throws Error where there are no rows, a row or an image
// is empty, the zoom is negative, or the sheet would be too large.
[[nodiscard]] Image contact_sheet(const std::vector<ContactRow>& rows,
                                  const ContactSheetOptions& options);

}  // namespace stoker
