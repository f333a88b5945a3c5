// Labels that a model doubts, as findings of the doctor.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "stoker/doctor/doctor.h"
#include "stoker/image/decode.h"

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

struct LabelCheckRequest {
  std::filesystem::path folder;  // the examined one; of a table, where it lies
  std::string weights;           // a folder of `stoker train --folds`, a run's folder, a model file
  int workers = 0;               // 0: what the job may use
  DecodeLimits limits = {};
  std::string data = {};  // the table; empty: the folder
  TableColumns table = {};
  // By the calling thread, with how many images are done. What it throws ends the check.
  std::function<void(std::uint64_t done)> progress = {};
};
// Needs LibTorch, which this module does without: see run/label_check.h.
using LabelChecker = std::function<LabelCheck(const LabelCheckRequest& request)>;

// One finding for each suspect, ranked, in its place among the others.
void add_label_findings(Diagnosis& diagnosis, const LabelCheck& check);

}  // namespace stoker
