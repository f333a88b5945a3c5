// An image of a confusion matrix: true classes down, predicted ones across, each cell shaded by
// its fraction of its row, with the counts written in where there are at most 40 classes, and class
// names where they fit. For `confusion_matrix.png` of a run.
// Functions without state, safe from any thread; they keep nothing of their input. Cost: the pixels
// of the page, at most kMaxPagePixels (page.h), checked before memory is taken.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "stoker/image/image.h"
#include "stoker/report/canvas.h"

namespace stoker {

struct ConfusionMatrixOptions {
  std::string title = {};  // none where empty
  std::string rows_title = "true class";
  std::string columns_title = "predicted class";
};

// counts[i * n + j]: samples of class i taken for class j; n names (UTF-8, any length, shortened to
// fit). A count of 0 is left blank, so that errors stand out; every other one is visibly shaded.
// RGB. Throws Error where there are no classes, a count is negative or the numbers do not match.
[[nodiscard]] Image confusion_matrix(std::span<const std::int64_t> counts,
                                     std::span<const std::string> class_names,
                                     const ConfusionMatrixOptions& options = {});

// Where the cells lie in that image: class_names.size() squares a side.
[[nodiscard]] Rect confusion_matrix_cells(std::span<const std::int64_t> counts,
                                          std::span<const std::string> class_names,
                                          const ConfusionMatrixOptions& options = {});

}  // namespace stoker
