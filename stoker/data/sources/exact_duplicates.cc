#include "stoker/data/sources/exact_duplicates.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/digest.h"
#include "stoker/core/error.h"
#include "stoker/core/input_file.h"
#include "stoker/data/sources/file_sizes.h"

namespace stoker {
namespace {

using Sets = std::vector<std::vector<std::size_t>>;

// Splits each set by a key; sets of one are omitted.
template <class Key>
Sets refine(const Sets& sets, const std::function<Key(std::size_t)>& key_of) {
  Sets refined;
  for (const auto& set : sets) {
    std::map<Key, std::vector<std::size_t>> by_key;
    for (const std::size_t place : set) by_key[key_of(place)].push_back(place);
    for (auto& [key, places] : by_key) {
      if (places.size() > 1) refined.push_back(std::move(places));
    }
  }
  return refined;
}

// The digest of up to `length` bytes from `begin` on.
std::string digest_of_part(const std::filesystem::path& path, std::uint64_t begin,
                           std::uint64_t length) {
  const InputFile file(path, "cannot read an image to compare it with others");
  const std::uint64_t end = begin + std::min(length, file.size() - std::min(begin, file.size()));
  Digest digest;
  std::vector<std::byte> buffer(std::min<std::uint64_t>(end - begin, 1 << 16));
  for (std::uint64_t at = begin; at < end; at += buffer.size()) {
    buffer.resize(std::min<std::uint64_t>(end - at, buffer.size()));
    digest.add(file.read(at, buffer).value());
  }
  return digest.hex();
}

}  // namespace

Sets find_exact_duplicates(const ImageListing& listing) {
  constexpr std::uint64_t kReadBlock = 4096;
  const auto digest = [&](std::size_t place, std::uint64_t begin, std::uint64_t length) {
    return digest_of_part(listing.root / listing.images[place].path, begin, length);
  };
  const std::vector<std::uint64_t> sizes = file_sizes(listing);
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    // A file that a table names and that is not there equals no other: who reads it says so.
    if (sizes[i] > 0 || listing.table.empty()) all.push_back(i);
  }
  Sets sets = refine<std::uint64_t>({all}, [&](std::size_t i) { return sizes[i]; });
  // From the middle: photographs of one camera have the same first kilobytes.
  sets =
      refine<std::string>(sets, [&](std::size_t i) { return digest(i, sizes[i] / 2, kReadBlock); });
  sets = refine<std::string>(
      sets, [&](std::size_t i) { return digest(i, 0, std::numeric_limits<std::uint64_t>::max()); });
  std::ranges::sort(sets);
  return sets;
}

}  // namespace stoker
