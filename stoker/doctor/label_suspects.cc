#include "stoker/doctor/label_suspects.h"

#include <algorithm>

#include <fmt/format.h>

namespace stoker {

void add_label_findings(Diagnosis& diagnosis, const LabelCheck& check) {
  std::vector<Finding> found;
  for (const LabelSuspect& suspect : check.suspects) {
    found.push_back(
        {.kind = FindingKind::kSuspectLabel,
         .paths = {suspect.path},
         .detail = fmt::format("labelled {} ({:.1f} %), predicted {} ({:.1f} %)", suspect.label,
                               100 * suspect.label_probability, suspect.predicted,
                               100 * suspect.predicted_probability)});
  }
  std::vector<Finding>& all = diagnosis.findings;
  const auto place =
      std::ranges::upper_bound(all, FindingKind::kSuspectLabel, std::less<>(), &Finding::kind);
  all.insert(place, found.begin(), found.end());
}

}  // namespace stoker
