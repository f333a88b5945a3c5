#include "stoker/cli/digest.h"

#include <new>

#include <fmt/format.h>
#include <xxhash.h>

namespace stoker {

struct BatchDigest::State {
  State() : xxh(XXH3_createState()) {
    if (xxh == nullptr) throw std::bad_alloc();
    XXH3_128bits_reset(xxh);
  }
  ~State() { XXH3_freeState(xxh); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  XXH3_state_t* xxh;
};

BatchDigest::BatchDigest() : state_(std::make_unique<State>()) {}
BatchDigest::~BatchDigest() = default;

void BatchDigest::add(const Batch& batch, const Cursor& from, std::uint32_t ranks) {
  for (std::uint32_t slot = 0; slot < batch.size(); ++slot) {
    const std::uint64_t position = batch.first_position() + std::uint64_t{slot} * ranks;
    const bool before =
        batch.epoch() < from.epoch || (batch.epoch() == from.epoch && position < from.position);
    if (before) continue;
    const auto pixels = batch.pixels_of(slot);
    XXH3_128bits_update(state_->xxh, pixels.data(), pixels.size());
    XXH3_128bits_update(state_->xxh, &batch.labels()[slot], sizeof(std::int64_t));
  }
}

std::string BatchDigest::hex() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_->xxh);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace stoker
