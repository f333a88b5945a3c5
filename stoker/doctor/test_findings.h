// Findings as lines of text, for the doctor's tests.
#pragma once

#include <string>
#include <vector>

#include "stoker/doctor/doctor.h"

namespace stoker::test {

// "kind: path path" for each finding, in the doctor's order.
inline std::vector<std::string> findings_of(const Diagnosis& diagnosis) {
  std::vector<std::string> lines;
  for (const Finding& finding : diagnosis.findings) {
    std::string line(traits_of(finding.kind).name);
    line += ":";
    for (const std::string& path : finding.paths) line += " " + path;
    lines.push_back(line);
  }
  return lines;
}

}  // namespace stoker::test
