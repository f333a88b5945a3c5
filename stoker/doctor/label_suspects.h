// Labels that a model doubts, as findings of the doctor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/doctor/doctor.h"

namespace stoker {

struct LabelSuspect {
  std::string path;              // relative to the examined folder
  std::string label, predicted;  // classes
  double label_probability = 0, predicted_probability = 0;
};

struct LabelCheck {
  std::vector<LabelSuspect> suspects;  // the most doubtful first
  std::uint64_t images = 0;            // that were looked at
  bool out_of_fold = false;            // by models that had not trained on them
};

// One finding for each suspect, ranked, in its place among the others.
void add_label_findings(Diagnosis& diagnosis, const LabelCheck& check);

}  // namespace stoker
