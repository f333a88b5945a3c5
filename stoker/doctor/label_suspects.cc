#include "stoker/doctor/label_suspects.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

namespace stoker {

void add_label_findings(Diagnosis& diagnosis, const LabelCheck& check) {
  std::vector<Finding> found;
  std::unordered_map<std::string_view, std::uint32_t> line_of_path;
  if (!diagnosis.table.empty()) {
    for (const ExaminedImage& image : diagnosis.images)
      line_of_path.emplace(image.path, image.line);
  }
  for (const LabelSuspect& suspect : check.suspects) {
    found.push_back(
        {.kind = FindingKind::kSuspectLabel,
         .paths = {suspect.path},
         .detail = fmt::format("labelled {} ({:.1f} %), predicted {} ({:.1f} %)", suspect.label,
                               100 * suspect.label_probability, suspect.predicted,
                               100 * suspect.predicted_probability)});
    const auto line = line_of_path.find(suspect.path);
    if (line != line_of_path.end()) found.back().lines = {line->second};
  }
  std::vector<Finding>& all = diagnosis.findings;
  const auto place =
      std::ranges::upper_bound(all, FindingKind::kSuspectLabel, std::less<>(), &Finding::kind);
  all.insert(place, found.begin(), found.end());
}

}  // namespace stoker
