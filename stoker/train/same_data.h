// Ranks that train together must see the same data: a stale copy on one host would give each rank
// other samples for the same number. They compare identities (data/data_identity.h) when they meet.
#pragma once

#include <span>

#include "stoker/data/data_identity.h"
#include "stoker/distributed/group.h"

namespace stoker {

// All ranks call it once. A rank whose data is not rank 0's throws an Error with the first
// difference; the others get a GroupError that quotes it. Digests are exchanged, and of large
// listings only the lines about the first difference. Returns this rank's identity.
[[nodiscard]] DataIdentity check_same_data(Group& group, std::span<const DataPart> parts,
                                           const IdentityOptions& options = {});

}  // namespace stoker
