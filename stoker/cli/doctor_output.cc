#include "stoker/cli/doctor_output.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "stoker/cli/option_text.h"
#include "stoker/core/error.h"
#include "stoker/core/input_file.h"
#include "stoker/data/sources/image_folder.h"
#include "stoker/kernels/resize/resize.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// What the page has room for.
constexpr std::size_t kImagesOfKind = 24, kImagesOfFinding = 8, kPathsOfFinding = 20;
constexpr std::size_t kLinesOfKind = 100, kClassesShown = 200;
constexpr int kThumbnailSide = 160;

// Images of each class of a part, in the part's order.
std::vector<std::uint64_t> class_counts(const Diagnosis& diagnosis, std::size_t part) {
  std::vector<std::uint64_t> counts(diagnosis.parts[part].class_names.size());
  for (const ExaminedImage& image : diagnosis.images) {
    if (image.part == part && image.label != kNoClass) {
      ++counts[static_cast<std::size_t>(image.label)];
    }
  }
  return counts;
}

std::uint64_t part_images(const Diagnosis& diagnosis, std::size_t part) {
  return static_cast<std::uint64_t>(
      std::count_if(diagnosis.images.begin(), diagnosis.images.end(),
                    [part](const ExaminedImage& image) { return image.part == part; }));
}

Json part_json(const Diagnosis& diagnosis, std::size_t part) {
  Json classes = Json::array();
  const std::vector<std::uint64_t> counts = class_counts(diagnosis, part);
  for (std::size_t c = 0; c < counts.size(); ++c) {
    classes.push_back({{"name", diagnosis.parts[part].class_names[c]}, {"images", counts[c]}});
  }
  return {{"name", diagnosis.parts[part].name},
          {"folder", diagnosis.parts[part].folder},
          {"images", part_images(diagnosis, part)},
          {"classes", std::move(classes)}};
}

Json finding_json(const Finding& finding) {
  const FindingTraits& traits = traits_of(finding.kind);
  Json json = {{"kind", traits.name},
               {"severity", severity_name(traits.severity)},
               {"paths", finding.paths}};
  if (!finding.lines.empty()) json["lines"] = finding.lines;
  json["detail"] = finding.detail;
  json["advice"] = with_flags(traits.advice);
  return json;
}

// Shrinks images for the page.
class Thumbnails {
 public:
  Thumbnails(const Diagnosis& diagnosis, const DecodeLimits& limits)
      : folder_(diagnosis.folder), decoder_(limits) {}

  // Without pixels where the file cannot be decoded.
  [[nodiscard]] Image of(const ExaminedImage& image) {
    if (image.facts.state != DecodeState::kDecoded) return {};
    try {
      const FileBytes file(folder_ / image.path);
      auto header = decoder_.open(file.bytes());
      return header ? shrink(*header) : Image();
    } catch (const Error&) {  // gone since it was examined
      return {};
    }
  }

 private:
  [[nodiscard]] Image shrink(const ImageHeader& header) {
    const int longer = std::max(header.width, header.height);
    const auto shrunk = [longer](int side) {
      if (longer <= kThumbnailSide) return side;
      return static_cast<int>(
          std::max<std::int64_t>(1, std::int64_t{side} * kThumbnailSide / longer));
    };
    Image out({.height = shrunk(header.height), .width = shrunk(header.width), .channels = 3});
    auto decoded = decoder_.decode(
        {.exact = false, .target_width = out.shape().width, .target_height = out.shape().height});
    if (!decoded) return {};
    const RegionF& box = decoded->box;
    resize(out.view(), decoded->pixels,
           {box.left, box.top, box.left + box.width, box.top + box.height},
           {.filter = ResizeFilter::kBilinear}, scratch_);
    return out;
  }

  fs::path folder_;
  ImageDecoder decoder_;
  ResizeScratch scratch_;
};

std::string caption_of(const Diagnosis& diagnosis, const ExaminedImage& image) {
  std::vector<std::string> words;
  if (diagnosis.parts.size() > 1) words.push_back(diagnosis.parts[image.part].name);
  if (image.line > 0) words.push_back(fmt::format("line {}", image.line));
  if (image.label != kNoClass) words.emplace_back(class_name_of(diagnosis, image));
  if (!image.values.empty()) words.push_back(image.values);
  if (image.facts.header) {
    const ImageHeader& header = *image.facts.header;
    words.push_back(
        fmt::format("{}x{} {}", header.width, header.height, format_name(header.format)));
  }
  words.push_back(image.bytes < 10'000 ? fmt::format("{} bytes", image.bytes)
                                       : fmt::format("{} kB", image.bytes / 1000));
  return fmt::format("{}", fmt::join(words, ", "));
}

class PageMaker {
 public:
  PageMaker(const Diagnosis& diagnosis, const DecodeLimits& limits)
      : diagnosis_(diagnosis), thumbnails_(diagnosis, limits) {
    for (const ExaminedImage& image : diagnosis.images) {
      images_.emplace(std::pair(std::string_view(image.path), image.line), &image);
    }
  }

  void add(PageSection& section, const Finding& finding) {
    ++section.count;
    const bool has_images = images_.contains(key_of(finding, 0));
    if (has_images && shown_[finding.kind] < kImagesOfKind) {
      section.findings.push_back(shown(finding));
    } else if (section.plain.size() < kLinesOfKind) {
      section.plain.push_back(line_of(finding));
    } else {
      ++section.omitted;
    }
  }

 private:
  using Key = std::pair<std::string_view, std::uint32_t>;  // path and line

  [[nodiscard]] static Key key_of(const Finding& finding, std::size_t place) {
    return {finding.paths[place], finding.lines.empty() ? 0 : finding.lines[place]};
  }

  [[nodiscard]] PageFinding shown(const Finding& finding) {
    PageFinding result{.detail = finding.detail, .images = {}, .more_paths = {}};
    for (std::size_t i = 0; i < finding.paths.size(); ++i) {
      const std::string& path = finding.paths[i];
      const auto image = images_.find(key_of(finding, i));
      if (image != images_.end() && result.images.size() < kImagesOfFinding) {
        ++shown_[finding.kind];
        result.images.push_back(
            {path, caption_of(diagnosis_, *image->second), thumbnails_.of(*image->second)});
      } else if (result.more_paths.size() < kPathsOfFinding) {
        result.more_paths.push_back(shown_path(finding, i));
      } else {
        ++result.omitted;
      }
    }
    return result;
  }

  [[nodiscard]] static std::string line_of(const Finding& finding) {
    const std::size_t named = std::min(finding.paths.size(), kPathsOfFinding);
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < named; ++i) paths.push_back(shown_path(finding, i));
    std::string line = fmt::format("{}", fmt::join(paths, ", "));
    if (named < finding.paths.size()) {
      line += fmt::format(" and {} more", finding.paths.size() - named);
    }
    return fmt::format("{}: {}", line, finding.detail);
  }

  const Diagnosis& diagnosis_;
  Thumbnails thumbnails_;
  std::map<Key, const ExaminedImage*> images_;
  std::map<FindingKind, std::size_t> shown_;  // number of images of each kind
};

// Classes by name, with their images in each part.
void add_classes(const Diagnosis& diagnosis, DoctorPage& page) {
  std::map<std::string, std::vector<std::uint64_t>> by_name;
  for (std::size_t p = 0; p < diagnosis.parts.size(); ++p) {
    const std::vector<std::uint64_t> counts = class_counts(diagnosis, p);
    for (std::size_t c = 0; c < counts.size(); ++c) {
      auto& all = by_name[diagnosis.parts[p].class_names[c]];
      all.resize(diagnosis.parts.size());
      all[p] = counts[c];
    }
  }
  for (auto& [name, counts] : by_name) {
    if (page.classes.size() < kClassesShown) {
      page.classes.push_back({name, std::move(counts)});
    } else {
      ++page.classes_omitted;
    }
  }
}

PageSeverity page_severity(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return PageSeverity::kError;
    case Severity::kWarning:
      return PageSeverity::kWarning;
    case Severity::kNote:
      break;
  }
  return PageSeverity::kNote;
}

}  // namespace

std::string shown_path(const Finding& finding, std::size_t place) {
  const std::uint32_t line = finding.lines.empty() ? 0 : finding.lines[place];
  if (line == 0) return finding.paths[place];
  return fmt::format("{} (line {})", finding.paths[place], line);
}

std::string doctor_json(const Diagnosis& diagnosis) {
  Json json = {{"folder", diagnosis.folder.string()},
               {"images", diagnosis.images.size()},
               {"parts", Json::array()},
               {"summary", {{"error", 0}, {"warning", 0}, {"note", 0}}},
               {"counts", Json::object()},
               {"findings", Json::array()}};
  for (std::size_t p = 0; p < diagnosis.parts.size(); ++p) {
    json["parts"].push_back(part_json(diagnosis, p));
  }
  for (const Finding& finding : diagnosis.findings) {
    const FindingTraits& traits = traits_of(finding.kind);
    Json& severity = json["summary"][std::string(severity_name(traits.severity))];
    severity = severity.get<int>() + 1;
    Json& count = json["counts"][std::string(traits.name)];
    count = count.is_null() ? 1 : count.get<int>() + 1;
    json["findings"].push_back(finding_json(finding));
  }
  if (!diagnosis.table.empty()) json["table"] = diagnosis.table.string();
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

DoctorPage make_doctor_page(const Diagnosis& diagnosis, const DecodeLimits& limits,
                            const std::string& all_findings) {
  DoctorPage page{.folder = (diagnosis.table.empty() ? diagnosis.folder : diagnosis.table).string(),
                  .images = diagnosis.images.size(),
                  .part_names = {},
                  .part_images = {},
                  .classes = {},
                  .sections = {},
                  .all_findings_file = all_findings};
  for (std::size_t p = 0; p < diagnosis.parts.size(); ++p) {
    page.part_names.push_back(diagnosis.parts[p].name);
    page.part_images.push_back(part_images(diagnosis, p));
  }
  add_classes(diagnosis, page);
  PageMaker maker(diagnosis, limits);
  for (std::size_t f = 0; f < diagnosis.findings.size(); ++f) {
    const Finding& finding = diagnosis.findings[f];
    if (f == 0 || diagnosis.findings[f - 1].kind != finding.kind) {
      const FindingTraits& traits = traits_of(finding.kind);
      page.sections.push_back({.severity = page_severity(traits.severity),
                               .title = std::string(traits.title),
                               .advice = with_flags(traits.advice),
                               .findings = {},
                               .plain = {}});
    }
    maker.add(page.sections.back(), finding);
  }
  return page;
}

CleanList make_clean_list(const Diagnosis& diagnosis, const fs::path& list) {
  const fs::path from = fs::weakly_canonical(fs::absolute(list)).parent_path();
  const fs::path folder = fs::weakly_canonical(fs::absolute(diagnosis.folder));
  CleanList result;
  for (const std::size_t i : clean_images(diagnosis)) {
    const ExaminedImage& image = diagnosis.images[i];
    std::string line = (folder / image.path).lexically_relative(from).generic_string();
    const std::string name(class_name_of(diagnosis, image));
    if ((line + name).find_first_of("\t\r\n") != std::string::npos) {
      ++result.unnamable;
      continue;
    }
    if (!name.empty()) line += "\t" + name;
    result.text += line + "\n";
    ++result.images;
  }
  return result;
}

}  // namespace stoker
