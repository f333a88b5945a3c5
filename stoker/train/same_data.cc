#include "stoker/train/same_data.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/data/identity_difference.h"

namespace stoker {
namespace {

// Up to here all of rank 0's text is sent: with it every difference can be told exactly.
constexpr std::size_t kWholeText = std::size_t{4} << 20;

// The first different chunk of every rank, -1 where there is none.
std::vector<std::int64_t> gather_chunks(Group& group, std::optional<std::size_t> own) {
  const std::int64_t chunk = own ? static_cast<std::int64_t>(*own) : -1;
  std::vector<std::int64_t> all;
  for (const at::Tensor& one :
       group.gather(at::full({1}, chunk, at::kLong), "the comparison of the data")) {
    all.push_back(one.item<std::int64_t>());
  }
  return all;
}

[[noreturn]] void fail(const Group& group, const std::string& difference) {
  throw Error({.what = fmt::format("{} sees other data than {}", group.name_of(group.rank()),
                                   group.name_of(0)),
               .found = difference,
               .hint = "Bring the copies of the data on all hosts up to date, and start again."});
}

}  // namespace

DataIdentity check_same_data(Group& group, std::span<const DataPart> parts,
                             const IdentityOptions& options) {
  // Rank 0 decides for all whether contents are digested, so that texts can be compared.
  const std::string content =
      group.share_text("data content", content_is_cheap(parts, options) ? "yes" : "no");
  DataIdentity identity = identity_of(parts, content == "yes", options);
  const std::string& text = identity.text();
  const std::string digests = chunk_digests(text);
  const auto own = first_different_chunk(digests, group.share_text("data digests", digests));
  const std::vector<std::int64_t> all = gather_chunks(group, own);
  std::set<std::int64_t> wanted(all.begin(), all.end());
  wanted.erase(-1);
  if (wanted.empty()) return identity;
  const bool whole =
      group.share_text("data extent", text.size() <= kWholeText ? "whole" : "window") == "whole";
  std::string difference;
  const auto compare = [&](const std::string& mine, const std::string& rank_0s) {
    difference = first_difference(mine, rank_0s, {.here = "here", .there = "on rank 0"},
                                  whole ? IdentityExtent::kWhole : IdentityExtent::kWindow);
    if (difference.empty()) difference = "a listing of another kind, as another version makes it";
  };
  if (whole) {
    compare(text, group.share_text("data text", text));
  } else {
    for (const std::int64_t number : wanted) {
      const std::string mine = chunk_window(text, static_cast<std::size_t>(number));
      const std::string rank_0s = group.share_text(fmt::format("data chunk {}", number), mine);
      if (own == static_cast<std::size_t>(number)) compare(mine, rank_0s);
    }
  }
  if (own) fail(group, difference);
  // Ends with the error of the rank that differs.
  static_cast<void>(gather_chunks(group, own));
  throw GroupError({.what = "another rank sees other data"});
}

}  // namespace stoker
