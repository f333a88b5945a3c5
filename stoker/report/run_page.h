// The report of one run as an HTML file that needs nothing else: curves, confusion matrix, classes,
// calibration, images, time, settings, machine. Opens from a disk, light or dark, on a phone and
// on paper. A function without state, safe from any thread; what is missing in the run is omitted.
#pragma once

#include <string>

#include "stoker/report/run_report.h"

namespace stoker {

[[nodiscard]] std::string run_page(const RunReport& run);

}  // namespace stoker
