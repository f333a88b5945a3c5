// A digest of batches: over each sample's pixels and label, in order. Batch borders do not enter,
// so a run that starts in the middle can be compared with the tail of a whole one.
#pragma once

#include <string>

#include "stoker/core/digest.h"
#include "stoker/pipeline/batch.h"

namespace stoker {

class BatchDigest {
 public:
  // Samples of the batch at or after `from`.
  void add(const Batch& batch, const Cursor& from = {}, std::uint32_t ranks = 1);
  [[nodiscard]] std::string hex() const { return digest_.hex(); }

 private:
  Digest digest_;
};

}  // namespace stoker
