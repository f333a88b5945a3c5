// In what two identities of data (data_identity.h) differ first, in words; and how two processes
// find it without exchanging all of a large one: digests of chunks tell where, then a few chunks
// do. Functions without state.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// How a message names the two sides: "dog/3.png is here and not on rank 0".
struct IdentitySides {
  std::string here = "here";
  std::string there;  // "on rank 0", "in the run's data"
};

enum class IdentityExtent {
  kWhole,   // both texts are complete
  kWindow,  // cut out of them: what is not in the other window may still be in the other identity
};

// The first difference that matters, or "" where there is none: a digest that one side lacks is no
// difference. Looked for in this order: classes; images, shards or arrays that only one side has;
// their sizes, labels and contents; the part they are in; their order; the number of samples.
[[nodiscard]] std::string first_difference(std::string_view here, std::string_view there,
                                           const IdentitySides& sides,
                                           IdentityExtent extent = IdentityExtent::kWhole);

// 16 hex digits for every 1,024 lines.
[[nodiscard]] std::string chunk_digests(std::string_view text);
// The first chunk that differs, or that only one has; nothing where all are the same.
[[nodiscard]] std::optional<std::size_t> first_different_chunk(std::string_view digests_here,
                                                               std::string_view digests_there);
// This chunk and the next, after the line of the part that they begin in.
[[nodiscard]] std::string chunk_window(std::string_view text, std::size_t chunk);

}  // namespace stoker
