#include "stoker/doctor/hamming_index.h"

#include <algorithm>
#include <limits>

#include "stoker/core/invariant.h"

namespace stoker {
namespace {

// Every difference that a search may have to try.
std::vector<std::uint32_t> differences(int most_bits) {
  std::vector<std::uint32_t> masks;
  for (std::uint32_t mask = 0; mask < 1U << 16; ++mask) {
    if (std::popcount(mask) <= most_bits) masks.push_back(mask);
  }
  std::stable_sort(masks.begin(), masks.end(), [](std::uint32_t a, std::uint32_t b) {
    return std::popcount(a) < std::popcount(b);
  });
  return masks;
}

}  // namespace

HammingIndex::HammingIndex(std::span<const std::uint64_t> hashes)
    : hashes_(hashes.begin(), hashes.end()), masks_(differences(kMaxDistance / kPieces)) {
  STOKER_INVARIANT(hashes.size() < std::numeric_limits<std::uint32_t>::max(), "{} hashes",
                   hashes.size());
  for (int piece = 0; piece < kPieces; ++piece) fill(piece);
}

// A counting sort by the piece's value.
void HammingIndex::fill(int piece) {
  Table& table = tables_[static_cast<std::size_t>(piece)];
  table.first.assign(kValues + 1, 0);
  for (const std::uint64_t hash : hashes_) ++table.first[piece_of(hash, piece) + 1];
  for (std::size_t v = 0; v < kValues; ++v) table.first[v + 1] += table.first[v];
  std::vector<std::uint32_t> next(table.first.begin(), table.first.end() - 1);
  table.places.resize(hashes_.size());
  for (std::size_t i = 0; i < hashes_.size(); ++i) {
    table.places[next[piece_of(hashes_[i], piece)]++] = static_cast<std::uint32_t>(i);
  }
}

std::vector<std::uint32_t> HammingIndex::within(std::uint64_t hash, int distance) const {
  STOKER_INVARIANT(distance >= 0 && distance <= kMaxDistance, "distance {}", distance);
  const int piece_distance = distance / kPieces;
  std::vector<std::uint32_t> found;
  for (int piece = 0; piece < kPieces; ++piece) {
    const Table& table = tables_[static_cast<std::size_t>(piece)];
    for (const std::uint32_t mask : masks_) {
      if (std::popcount(mask) > piece_distance) break;
      const std::uint32_t value = piece_of(hash, piece) ^ mask;
      for (std::uint32_t i = table.first[value]; i < table.first[value + 1]; ++i) {
        const std::uint32_t place = table.places[i];
        if (hamming_distance(hashes_[place], hash) <= distance) found.push_back(place);
      }
    }
  }
  // A hash that agrees in several pieces was met several times.
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace stoker
