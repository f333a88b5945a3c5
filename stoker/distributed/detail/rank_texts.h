// What every rank tells all others once, at the start.
#pragma once

#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace stoker::detail {

// The texts of all ranks, by rank. None may contain a zero byte. Waits for all of them, as long as
// the store does. Rank 0 asks for each text and puts them together, so that the others ask once:
// with n ranks the store gets 3n requests, not n².
[[nodiscard]] std::vector<std::string> exchange_texts(c10d::Store& store, const std::string& name,
                                                      int rank, int ranks, const std::string& own);

}  // namespace stoker::detail
