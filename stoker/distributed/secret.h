/// \file
/// The secret that the ranks of a job share, with which each proves that it belongs to the job.
/// Without LibTorch.
#pragma once

#include <string>

#include "stoker/core/environment.h"

namespace stoker {

/// The first line of `file`; where that is empty, of the file that STOKER_DIST_SECRET_FILE names;
/// else STOKER_DIST_SECRET. Empty where none of them is set: then ranks prove nothing. Throws Error
/// where a secret is too short to withstand guessing, or others may read its file. No error
/// contains a part of the secret.
[[nodiscard]] std::string read_rank_secret(const std::string& file,
                                           const Environment& environment = environment_variable);

}  // namespace stoker
