// Finds, among many 64-bit hashes, those that differ from a given one in few bits, without looking
// at all of them.
//
// A hash is cut into four pieces of 16 bits, and for each piece there is a table from its value to
// the hashes that have it. Two hashes that differ in at most d bits agree in one piece up to d / 4
// bits, so only a few lists of each table are read. For n well mixed hashes and d = 8 that is about
// n / 120 looks a query. Built once, in linear time; 16 bytes a hash and 1 MB. Afterwards const:
// any number of threads may search.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stoker {

[[nodiscard]] inline int hamming_distance(std::uint64_t a, std::uint64_t b) noexcept {
  return std::popcount(a ^ b);
}

class HammingIndex {
 public:
  static constexpr int kMaxDistance = 15;

  // Keeps a copy of the hashes. At most 2^32 - 1 of them.
  explicit HammingIndex(std::span<const std::uint64_t> hashes);

  // The places of all hashes within `distance` bits (at most kMaxDistance), sorted.
  [[nodiscard]] std::vector<std::uint32_t> within(std::uint64_t hash, int distance) const;

 private:
  static constexpr int kPieces = 4, kPieceBits = 16;
  static constexpr std::size_t kValues = std::size_t{1} << kPieceBits;

  // The hashes whose piece has value v: places[first[v]] up to places[first[v + 1]].
  struct Table {
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> places;
  };
  [[nodiscard]] static std::uint32_t piece_of(std::uint64_t hash, int piece) noexcept {
    return static_cast<std::uint32_t>(hash >> (piece * kPieceBits)) & (kValues - 1);
  }
  void fill(int piece);

  std::vector<std::uint64_t> hashes_;
  std::array<Table, kPieces> tables_;
  std::vector<std::uint32_t> masks_;  // all differences of a piece, fewest bits first
};

}  // namespace stoker
