#include "stoker/doctor/detail/doctor_checks.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "stoker/data/sources/dark_images.h"
#include "stoker/data/sources/ignored_files.h"

namespace stoker::detail {
namespace {

bool decoded(const ExaminedImage& image) { return image.facts.state == DecodeState::kDecoded; }

std::string lower_extension(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

std::optional<ImageFormat> format_of_extension(const std::string& extension) {
  if (extension == ".jpg" || extension == ".jpeg" || extension == ".jpe" || extension == ".jfif") {
    return ImageFormat::kJpeg;
  }
  if (extension == ".png") return ImageFormat::kPng;
  if (extension == ".webp") return ImageFormat::kWebp;
  if (extension == ".tif" || extension == ".tiff") return ImageFormat::kTiff;
  if (extension == ".bmp") return ImageFormat::kBmp;
  if (extension == ".pbm" || extension == ".pgm" || extension == ".ppm" || extension == ".pnm") {
    return ImageFormat::kPnm;
  }
  return std::nullopt;
}

// Beside the class folders, and not hidden.
bool is_stray_image(const std::string& path) {
  return path.find('/') == std::string::npos && !path.starts_with('.') &&
         format_of_extension(lower_extension(path));
}

// Grey among colour, or colour among grey: whichever are fewer.
void check_mixed_colour(const Diagnosis& diagnosis, Findings& out) {
  std::size_t grey = 0, colour = 0;
  for (const ExaminedImage& image : diagnosis.images) {
    if (decoded(image)) ++(image.facts.header->grey ? grey : colour);
  }
  if (grey == 0 || colour == 0) return;
  const bool odd_ones_are_grey = grey <= colour;
  for (const ExaminedImage& image : diagnosis.images) {
    if (!decoded(image) || image.facts.header->grey != odd_ones_are_grey) continue;
    out.push_back({FindingKind::kMixedColour,
                   {image.path},
                   odd_ones_are_grey ? fmt::format("grey, among {} in colour", colour)
                                     : fmt::format("in colour, among {} in grey", grey)});
  }
}

struct ClassCount {
  std::size_t listed = 0, decoded = 0;
};

// For each class of a part, in its order.
std::vector<ClassCount> count_classes(const Diagnosis& diagnosis, std::size_t part) {
  std::vector<ClassCount> counts(diagnosis.parts[part].class_names.size());
  for (const ExaminedImage& image : diagnosis.images) {
    if (image.part != part || image.label == kNoClass) continue;
    ClassCount& count = counts[static_cast<std::size_t>(image.label)];
    ++count.listed;
    if (decoded(image)) ++count.decoded;
  }
  return counts;
}

}  // namespace

void check_decoding(const Diagnosis& diagnosis, Findings& out) {
  for (const ExaminedImage& image : diagnosis.images) {
    if (decoded(image)) continue;
    const FindingKind kind = image.facts.state == DecodeState::kTruncated ? FindingKind::kTruncated
                             : image.facts.state == DecodeState::kTooLarge
                                 ? FindingKind::kTooLarge
                                 : FindingKind::kUnreadable;
    out.push_back({kind, {image.path}, image.facts.reason});
  }
}

void check_extensions(const Diagnosis& diagnosis, Findings& out) {
  for (const ExaminedImage& image : diagnosis.images) {
    const std::string extension = lower_extension(image.path);
    if (!image.facts.format || format_of_extension(extension) == image.facts.format) continue;
    out.push_back({FindingKind::kWrongExtension,
                   {image.path},
                   fmt::format("named {} but is {}", extension.empty() ? "without one" : extension,
                               format_name(*image.facts.format))});
  }
}

void check_colour_modes(const Diagnosis& diagnosis, Findings& out) {
  for (const ExaminedImage& image : diagnosis.images) {
    if (!decoded(image)) continue;
    const ImageHeader& header = *image.facts.header;
    const auto add = [&](bool condition, FindingKind kind, std::string detail) {
      if (condition) out.push_back({kind, {image.path}, std::move(detail)});
    };
    add(header.cmyk, FindingKind::kCmyk, "CMYK");
    add(header.alpha, FindingKind::kTransparency,
        header.palette ? "palette with transparency" : "with an alpha channel or colour");
    add(header.animated, FindingKind::kAnimated, "several images in one file");
    const bool dark = header.bits == 16 && image.facts.brightest <= kDarkLimit;
    add(header.bits == 16 && !dark, FindingKind::kSixteenBit, "16 bits a value");
    add(dark, FindingKind::kDarkSixteenBit,
        fmt::format("16 bits a value; read as 8, the brightest is {} of 255",
                    image.facts.brightest));
    add(header.palette, FindingKind::kPalette, fmt::format("palette of {} bits", header.bits));
  }
  check_mixed_colour(diagnosis, out);
}

void check_sizes(const Diagnosis& diagnosis, const DoctorOptions& options, Findings& out) {
  for (const ExaminedImage& image : diagnosis.images) {
    if (!decoded(image)) continue;
    const int width = image.facts.header->width, height = image.facts.header->height;
    const auto [shorter, longer] = std::minmax(width, height);
    const std::string size = fmt::format("{}x{}", width, height);
    if (shorter < options.min_side) out.push_back({FindingKind::kTiny, {image.path}, size});
    if (longer > options.max_ratio * shorter) {
      out.push_back({FindingKind::kElongated,
                     {image.path},
                     fmt::format("{}, {:.1f} to 1", size, static_cast<double>(longer) / shorter)});
    }
    if (image.facts.blank) {
      out.push_back({FindingKind::kBlank, {image.path}, size + ", one colour"});
    }
  }
}

void check_orientation(const Diagnosis& diagnosis, Findings& out) {
  for (const ExaminedImage& image : diagnosis.images) {
    if (!decoded(image) || image.facts.header->orientation == 1) continue;
    out.push_back({FindingKind::kRotated,
                   {image.path},
                   fmt::format("EXIF orientation {}", image.facts.header->orientation)});
  }
}

void check_empty_classes(const Diagnosis& diagnosis, Findings& out) {
  for (std::size_t p = 0; p < diagnosis.parts.size(); ++p) {
    const ExaminedPart& part = diagnosis.parts[p];
    const std::vector<ClassCount> counts = count_classes(diagnosis, p);
    for (std::size_t c = 0; c < counts.size(); ++c) {
      if (counts[c].decoded > 0) continue;
      out.push_back({FindingKind::kEmptyClass,
                     {part.folder + part.class_names[c]},
                     counts[c].listed == 0
                         ? "holds no images"
                         : fmt::format("none of its {} images can be read", counts[c].listed)});
    }
  }
}

// Against the first part, which is the one that is trained on.
void check_classes_of_parts(const Diagnosis& diagnosis, Findings& out) {
  const ExaminedPart& train = diagnosis.parts.front();
  const std::set<std::string> known(train.class_names.begin(), train.class_names.end());
  for (std::size_t p = 1; p < diagnosis.parts.size(); ++p) {
    const ExaminedPart& part = diagnosis.parts[p];
    // A part without classes is for prediction.
    if (part.class_names.empty() || known.empty()) continue;
    const std::set<std::string> here(part.class_names.begin(), part.class_names.end());
    for (const std::string& name : part.class_names) {
      if (known.contains(name)) continue;
      out.push_back({FindingKind::kUnknownClass,
                     {part.folder + name},
                     fmt::format("{} has no class of this name", train.name)});
    }
    for (const std::string& name : train.class_names) {
      if (here.contains(name)) continue;
      out.push_back({FindingKind::kMissingClass,
                     {train.folder + name},
                     fmt::format("{} has no class of this name", part.name)});
    }
  }
}

void check_balance(const Diagnosis& diagnosis, const DoctorOptions& options, Findings& out) {
  for (std::size_t p = 0; p < diagnosis.parts.size(); ++p) {
    const ExaminedPart& part = diagnosis.parts[p];
    const std::vector<ClassCount> counts = count_classes(diagnosis, p);
    std::optional<std::size_t> smallest, largest;
    for (std::size_t c = 0; c < counts.size(); ++c) {
      if (counts[c].decoded == 0) continue;  // an empty class is a finding of its own
      if (!smallest || counts[c].decoded < counts[*smallest].decoded) smallest = c;
      if (!largest || counts[c].decoded > counts[*largest].decoded) largest = c;
    }
    if (!smallest) continue;
    const double ratio = static_cast<double>(counts[*largest].decoded) /
                         static_cast<double>(counts[*smallest].decoded);
    if (ratio <= options.max_imbalance) continue;
    out.push_back(
        {FindingKind::kImbalance,
         {part.folder + part.class_names[*smallest], part.folder + part.class_names[*largest]},
         fmt::format("{} images of {} and {} of {}: 1 to {:.0f}", counts[*smallest].decoded,
                     part.class_names[*smallest], counts[*largest].decoded,
                     part.class_names[*largest], ratio)});
  }
}

void check_ignored(std::span<const IgnoredPath> ignored, const std::string& prefix, Findings& out) {
  for (const IgnoredPath& path : ignored) {
    const FindingKind kind = is_image_reason(path.reason) ? FindingKind::kUnsupported
                             : is_stray_image(path.path)  ? FindingKind::kStrayImage
                                                          : FindingKind::kIgnored;
    out.push_back({kind, {prefix + path.path}, path.reason});
  }
}

}  // namespace stoker::detail
