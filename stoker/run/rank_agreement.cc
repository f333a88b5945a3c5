#include "stoker/run/rank_agreement.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/different_lines.h"
#include "stoker/core/error.h"
#include "stoker/train/same_data.h"

namespace stoker {
namespace {

void check_same_settings(const RunSettings& settings, const TrainSetup& setup, Group& group) {
  RunSettings chosen = resolved(settings, setup);
  chosen.compute.threads = 0;  // may differ as machines do
  const std::string own = identity_yaml(chosen), rank_0s = group.share_text("settings", own);
  const std::int64_t same = own == rank_0s ? 1 : 0;
  const auto all = group.gather(at::full({1}, same, at::kLong), "the comparison of the settings");
  // Every rank ends with the reason, not only the one that differs.
  for (std::size_t rank = 0; same == 1 && rank < all.size(); ++rank) {
    if (all[rank].item<std::int64_t>() == 1) continue;
    throw Error({.what = fmt::format("{} was started with other settings",
                                     group.name_of(static_cast<int>(rank))),
                 .expected = "those of rank 0",
                 .found = "others, as its own message says"});
  }
  if (same == 1) return;
  const auto [line, line_of_0] = first_different_lines(own, rank_0s);
  throw Error(
      {.what = fmt::format("{} was started with other settings", group.name_of(group.rank())),
       .expected = fmt::format("\"{}\", as rank 0 has it", line_of_0),
       .found = fmt::format("\"{}\"", line)});
}

}  // namespace

std::vector<DataPart> data_parts(const TrainSetup& setup) {
  std::vector<DataPart> parts = {{"training", setup.data.train},
                                 {"validation", setup.data.validation}};
  if (setup.parts.test) parts.push_back({"test", setup.parts.test});
  return parts;
}

void check_agreement(const RunSettings& settings, TrainSetup& setup, Group& group) {
  check_same_settings(settings, setup, group);
  setup.identity = check_same_data(group, data_parts(setup));
}

}  // namespace stoker
