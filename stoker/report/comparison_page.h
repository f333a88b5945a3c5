// Several runs beside each other as an HTML file that needs nothing else: what differs in settings
// and results, time and accuracy against the setting that differs, curves over each other.
// Functions without state, safe from any thread.
#pragma once

#include <span>
#include <string>

#include "stoker/report/run_report.h"

namespace stoker {

[[nodiscard]] std::string comparison_page(std::span<const RunReport> runs);

}  // namespace stoker
