// A digest of batches: 128 bits (XXH3) over each sample's pixels and label, in order. Batch borders
// do not enter, so a run that starts in the middle can be compared with the tail of a whole one.
#pragma once

#include <memory>
#include <string>

#include "stoker/pipeline/batch.h"

namespace stoker {

class BatchDigest {
 public:
  BatchDigest();
  ~BatchDigest();
  // Samples of the batch at or after `from`.
  void add(const Batch& batch, const Cursor& from = {}, std::uint32_t ranks = 1);
  [[nodiscard]] std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stoker
