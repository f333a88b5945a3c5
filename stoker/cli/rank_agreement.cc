#include "stoker/cli/rank_agreement.h"

#include <fmt/format.h>

#include "stoker/cli/yaml_flags.h"
#include "stoker/core/different_lines.h"
#include "stoker/core/error.h"
#include "stoker/train/same_data.h"

namespace stoker {
namespace {

// Threads may differ as machines do.
void check_same_settings(const Command& command, const TrainFlags& flags, const TrainSetup& setup,
                         Group& group) {
  FlagValues values = resolved_values(command, flags, setup, flags_without_effect_on_the_result());
  std::erase_if(values, [](const auto& value) { return value.first == "threads"; });
  const std::string own = to_yaml(values), rank_0s = group.share_text("settings", own);
  if (own == rank_0s) return;
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

void check_agreement(const Command& command, const TrainFlags& flags, TrainSetup& setup,
                     Group& group) {
  check_same_settings(command, flags, setup, group);
  setup.identity = check_same_data(group, data_parts(setup));
}

}  // namespace stoker
