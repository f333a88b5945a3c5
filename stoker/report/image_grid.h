// A batch as an image: its images in rows, below each its class and, where given, what the network
// took it for, green where right and red where wrong. For `train_batch0.png` of a run.
// A function without state, safe from any thread; it keeps nothing of its input. Cost: the pixels
// of the page, at most kMaxPagePixels (page.h), checked before memory is taken.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/image/image.h"

namespace stoker {

struct GridPrediction {
  std::string name;        // of the predicted class
  double probability = 0;  // shown in per cent; "?" where it is not a number
  bool right = false;
};

struct GridCell {
  Image image;
  std::string label = {};  // UTF-8, shortened to fit
  std::optional<GridPrediction> prediction = {};
};

struct ImageGridOptions {
  int columns = 8;
  int rows = 8;  // what does not fit into rows * columns is omitted
  // Pixels of the page for a pixel of an image; 0 takes the least with images of 96 or more.
  int zoom = 0;
  std::string title = {};  // none where empty
};

// Images may differ in size: each is centred in its cell, and all cells are as large as the largest
// one. Grey where all images are grey and there is no prediction, else RGB. Throws Error where
// there are no images, an image is empty, an option is out of range, or the page would be too
// large.
[[nodiscard]] Image image_grid(const std::vector<GridCell>& cells,
                               const ImageGridOptions& options = {});

}  // namespace stoker
