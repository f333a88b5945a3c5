#include "stoker/doctor/detail/examined_table.h"

#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "stoker/data/catalog.h"
#include "stoker/data/sources/fields_text.h"
#include "stoker/data/sources/file_sizes.h"
#include "stoker/data/sources/image_table.h"

namespace stoker::detail {
namespace {

// The classes that occur, in their order; labels are changed to places in them.
std::vector<std::string> used_classes(ImageListing& listing) {
  std::vector<std::int32_t> place(listing.class_names.size(), kNoClass);
  for (const ListedImage& image : listing.images) {
    if (image.label != kNoClass) place[static_cast<std::size_t>(image.label)] = 0;
  }
  std::vector<std::string> used;
  for (std::size_t c = 0; c < place.size(); ++c) {
    if (place[c] == kNoClass) continue;
    place[c] = static_cast<std::int32_t>(used.size());
    used.push_back(listing.class_names[c]);
  }
  for (ListedImage& image : listing.images) {
    if (image.label != kNoClass) image.label = place[static_cast<std::size_t>(image.label)];
  }
  return used;
}

void add_rows(Diagnosis& diagnosis, std::string name, ImageListing listing) {
  ExaminedPart part{.name = std::move(name), .folder = "", .class_names = used_classes(listing)};
  const std::vector<std::uint64_t> sizes = file_sizes(listing);
  std::vector<float> numbers(number_count(listing.fields.fields()));
  for (std::size_t i = 0; i < listing.images.size(); ++i) {
    ListedImage& image = listing.images[i];
    ExaminedImage& examined = diagnosis.images.emplace_back();
    examined.path = std::move(image.path);
    examined.part = diagnosis.parts.size();
    examined.label = image.label;
    examined.bytes = sizes[i];
    examined.line = image.line;
    if (numbers.empty()) continue;
    listing.fields.read(i, numbers);
    examined.values = fields_text(listing.fields.fields(), numbers);
  }
  diagnosis.has_numbers = find_field(listing.fields.fields(), kTargetField) != nullptr;
  diagnosis.parts.push_back(std::move(part));
}

}  // namespace

void add_table(Diagnosis& diagnosis, const std::filesystem::path& table,
               const TableColumns& columns) {
  diagnosis.table = table;
  diagnosis.folder = table.has_parent_path() ? table.parent_path() : std::filesystem::path(".");
  const DataParts parts = table_parts(table, columns);
  const TableRequest request{.columns = columns, .needs_labels = false, .repeated_paths = true};
  for (const Split split : {Split::kTrain, Split::kValidation, Split::kTest}) {
    if (!parts.has(split)) continue;
    add_rows(diagnosis, split == Split::kValidation ? "validation" : name_of(split),
             read_image_table(table, split, request));
  }
}

// An image that comes twice is named twice by every kind of finding that names it: the first time
// is its first row.
void add_lines(Diagnosis& diagnosis) {
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> lines;
  for (const ExaminedImage& image : diagnosis.images) lines[image.path].push_back(image.line);
  std::map<std::pair<FindingKind, std::string_view>, std::size_t> named;  // how often
  for (Finding& finding : diagnosis.findings) {
    for (const std::string& path : finding.paths) {
      const auto found = lines.find(path);
      const std::size_t time = named[{finding.kind, path}]++;
      const bool known = found != lines.end() && time < found->second.size();
      finding.lines.push_back(known ? found->second[time] : 0);
    }
  }
}

}  // namespace stoker::detail
