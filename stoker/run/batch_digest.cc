#include "stoker/run/batch_digest.h"

namespace stoker {

void BatchDigest::add(const Batch& batch, const Cursor& from, std::uint32_t ranks) {
  for (std::uint32_t slot = 0; slot < batch.size(); ++slot) {
    const std::uint64_t position = batch.first_position() + std::uint64_t{slot} * ranks;
    const bool before =
        batch.epoch() < from.epoch || (batch.epoch() == from.epoch && position < from.position);
    if (before) continue;
    digest_.add(batch.pixels_of(slot));
    digest_.add(std::as_bytes(batch.labels().subspan(slot, 1)));
  }
}

}  // namespace stoker
