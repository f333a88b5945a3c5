// The data of a run, held against what it was started with: the identity (data/data_identity.h) is
// kept in the run's folder, and its digest in every checkpoint.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/data/data_identity.h"
#include "stoker/run/run_folder.h"

namespace stoker {

struct ResumedData {
  std::string saved_digest = {};  // of the checkpoint; empty: it has none, or there is none
  std::uint64_t step = 0;         // where the run resumes
  bool accept_changes = false;
};

// For a run that starts.
void keep_identity(const RunFolder& folder, const DataIdentity& identity);

// For a run that resumes. Throws Error with the first difference, unless changes are accepted: then
// the change is printed and recorded in run.json ("data_changes"), and the new identity is kept. A
// change that is recorded there needs no second acceptance. Where nothing was kept (a run of an
// older version), says that data could not be compared and keeps the identity from now on.
void check_identity(RunFolder& folder, const DataIdentity& identity, const ResumedData& resumed);

}  // namespace stoker
