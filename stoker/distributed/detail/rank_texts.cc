#include "stoker/distributed/detail/rank_texts.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace stoker::detail {
namespace {

constexpr char kEnd = '\0';  // of a text

std::string text_key(const std::string& name, int rank) { return fmt::format("{}/{}", name, rank); }

}  // namespace

std::vector<std::string> exchange_texts(c10d::Store& store, const std::string& name, int rank,
                                        int ranks, const std::string& own) {
  const std::string all_key = name + "/all";
  std::string all;
  if (rank == 0) {
    all = own + kEnd;
    for (int other = 1; other < ranks; ++other) {
      all += store.get_to_str(text_key(name, other)) + kEnd;
    }
    store.set(all_key, all);
  } else {
    store.set(text_key(name, rank), own);
    all = store.get_to_str(all_key);
  }
  std::vector<std::string> texts;
  for (std::size_t begin = 0; texts.size() < static_cast<std::size_t>(ranks);) {
    const std::size_t end = std::min(all.find(kEnd, begin), all.size());
    texts.push_back(all.substr(begin, end - begin));
    begin = std::min(end + 1, all.size());
  }
  return texts;
}

}  // namespace stoker::detail
