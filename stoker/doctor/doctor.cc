#include "stoker/doctor/doctor.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include "stoker/core/error.h"
#include "stoker/data/shards/shard_manifest.h"
#include "stoker/data/sources/image_folder.h"
#include "stoker/data/sources/image_table.h"
#include "stoker/doctor/detail/doctor_checks.h"
#include "stoker/doctor/detail/examined_table.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::array<FindingTraits, kFindingKinds> kTraits = {{
    {"unreadable", Severity::kError, "Cannot be decoded", "Get the file again, or remove it."},
    {"truncated", Severity::kError, "Cut short", "Get the file again: its end is missing."},
    {"too_large", Severity::kError, "More pixels than the limit",
     "Shrink it, or raise `max_pixels` if it is meant to be this large."},
    {"unsupported", Severity::kError, "An image that cannot be read here",
     "Convert it to PNG (GIF: magick, HEIC: heif-convert, AVIF: avifdec), or give it the extension "
     "of its format: training refuses "
     "such data, or leaves it out with `skip_unknown`."},
    {"two_labels", Severity::kError, "The same image under two labels",
     "Find out which label is right and remove the others: no model can learn both."},
    {"leak", Severity::kError, "The same image in two parts",
     "Remove it from train: figures on images that were trained on mean nothing."},
    {"unknown_class", Severity::kError, "A class that train does not have",
     "Rename the folder or add images of the class to train: the model cannot name it."},
    {"empty_class", Severity::kError, "A class without usable images",
     "Add images, or remove the folder."},
    {"suspect_label", Severity::kWarning, "Label that the model doubts",
     "Look at them from the first on, and move those that are wrong into the right class folder."},
    {"near_two_labels", Severity::kWarning, "Almost the same image under two labels",
     "Look at them: one of the labels is probably wrong."},
    {"near_leak", Severity::kWarning, "Almost the same image in two parts",
     "Look at them: if they show the same thing, keep them in one part (stoker split)."},
    {"duplicate", Severity::kWarning, "The same image more than once",
     "Remove the copies, or train on the list of `write_list`, which keeps one."},
    {"missing_class", Severity::kWarning, "A class that is only trained on",
     "Add images of it to the other part, or nothing says how well it is learnt."},
    {"stray_image", Severity::kWarning, "An image outside the class folders",
     "Move it into the folder of its class: training ignores it."},
    {"imbalance", Severity::kWarning, "Classes of very different size",
     "Collect more of the small class, or weigh the classes; judge by class, not by the mean."},
    {"wrong_extension", Severity::kWarning, "Extension and content differ",
     "Rename it; some programs believe the name."},
    {"cmyk", Severity::kWarning, "CMYK colours",
     "Convert it to RGB with its colour profile; read as it is, its colours are approximate."},
    {"transparency", Severity::kWarning, "Transparent",
     "Decide what lies behind it; it is decoded over white."},
    {"animated", Severity::kWarning, "Animated",
     "Extract the image that is meant; only the first is decoded."},
    {"tiny", Severity::kWarning, "Very small",
     "Get the image in its full size; check that it is no icon or thumbnail."},
    {"elongated", Severity::kWarning, "Very long and narrow",
     "Crop it to its subject: a square crop shows little of it."},
    {"blank", Severity::kWarning, "Nothing but one colour", "Remove it, or get the file again."},
    {"dark_sixteen_bit", Severity::kWarning, "Nearly black: 16 bits a value, few of them used",
     "Use `depth` 16 with a `window`: else only the high byte is used. Or multiply its values, by "
     "16 where they have 12 bits (X-rays often do): magick in.png -evaluate multiply 16 out.png"},
    {"near_duplicate", Severity::kNote, "Almost the same image more than once",
     "Nothing, unless they make up much of the class; keep them in one part when splitting."},
    {"sixteen_bit", Severity::kNote, "16 bits a value",
     "Nothing: the high byte is used. `depth` 16 uses both."},
    {"palette", Severity::kNote, "Colours from a palette",
     "Nothing; it has few colours and may come from a drawing."},
    {"mixed_colour", Severity::kNote, "Grey among colour",
     "Check that grey does not give a class away."},
    {"rotated", Severity::kNote, "Turned by EXIF",
     "Nothing: it is turned upright. Other programs may not do so."},
    {"ignored", Severity::kNote, "Ignored", "Remove it if it is not needed."},
}};

void add_part(Diagnosis& diagnosis, std::string name, const fs::path& folder) {
  if (folder.empty()) return;
  ImageListing listing = list_images(folder, EmptyClasses::kKeep);
  const fs::path relative = folder.lexically_relative(diagnosis.folder);
  const std::string prefix =
      relative.empty() || relative == "." ? "" : relative.generic_string() + "/";
  for (ListedImage& image : listing.images) {
    diagnosis.images.push_back({.path = prefix + image.path,
                                .part = diagnosis.parts.size(),
                                .label = image.label,
                                .bytes = image.bytes,
                                .facts = {}});
  }
  diagnosis.parts.push_back({std::move(name), prefix, std::move(listing.class_names)});
  detail::check_ignored(listing.ignored, prefix, diagnosis.findings);
}

// Workers take the next file in turn and write to its own place. The calling thread waits and tells
// of the progress.
class Examination {
 public:
  Examination(Diagnosis& diagnosis, const DoctorOptions& options)
      : diagnosis_(diagnosis), options_(options), total_(diagnosis.images.size()) {}

  void run() {
    const auto workers = std::min<std::size_t>(
        static_cast<std::size_t>(std::max(1, options_.workers)), std::max<std::size_t>(1, total_));
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < workers; ++i) threads.emplace_back([this] { work(); });
      try {
        wait(workers);
      } catch (...) {
        next_ = total_;  // what `progress` throws ends the work
        throw;
      }
    }
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void work() {
    try {
      ImageExaminer examiner(options_.limits);
      for (std::size_t i; (i = next_.fetch_add(1)) < total_; done_.fetch_add(1)) {
        ExaminedImage& image = diagnosis_.images[i];
        image.facts = examiner.examine(diagnosis_.folder / image.path);
      }
    } catch (...) {
      next_ = total_;  // the others stop too
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    ++finished_;
    changed_.notify_one();
  }

  void wait(std::size_t workers) {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, std::chrono::milliseconds(50),
                              [&] { return finished_ == workers; })) {
      report();
    }
    report();
  }

  void report() const {
    if (options_.progress) options_.progress(done_.load(), total_);
  }

  Diagnosis& diagnosis_;
  const DoctorOptions& options_;
  const std::size_t total_;
  std::atomic<std::size_t> next_{0}, done_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t finished_ = 0;    // workers
  std::exception_ptr failure_;  // of a worker
};

void refuse_shards(const fs::path& data) {
  for (const char* part : {"", "train"}) {
    std::error_code ignored;
    const fs::path manifest = data / part / kManifestName;
    if (!fs::is_regular_file(manifest, ignored)) continue;
    throw Error({.what = "the doctor does not examine shards",
                 .path = data.string(),
                 .expected = "a folder or table of images",
                 .found = manifest.string(),
                 .hint = "Examine the images from which the shards were written. What cannot be "
                         "read in shards is reported by `on_error` skip."});
  }
}

void check_all(Diagnosis& diagnosis, const DoctorOptions& options) {
  detail::Findings& out = diagnosis.findings;
  detail::check_decoding(diagnosis, out);
  detail::check_extensions(diagnosis, out);
  detail::check_colour_modes(diagnosis, out);
  detail::check_sizes(diagnosis, options, out);
  detail::check_orientation(diagnosis, out);
  detail::check_empty_classes(diagnosis, out);
  detail::check_classes_of_parts(diagnosis, out);
  detail::check_balance(diagnosis, options, out);
  detail::check_duplicates(diagnosis, out);
  detail::check_near_duplicates(diagnosis, options, out);
  if (!diagnosis.table.empty()) detail::add_lines(diagnosis);
  std::sort(out.begin(), out.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.kind, a.paths, a.detail, a.lines) <
           std::tie(b.kind, b.paths, b.detail, b.lines);
  });
}

}  // namespace

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  return "";
}

const FindingTraits& traits_of(FindingKind kind) { return kTraits[static_cast<std::size_t>(kind)]; }

std::string_view class_name_of(const Diagnosis& diagnosis, const ExaminedImage& image) {
  if (image.label == kNoClass) return "";
  return diagnosis.parts[image.part].class_names[static_cast<std::size_t>(image.label)];
}

Diagnosis diagnose(const fs::path& data, const DoctorOptions& options) {
  Diagnosis diagnosis{.folder = data, .parts = {}, .images = {}, .findings = {}};
  refuse_shards(data);
  if (is_image_table(data)) {
    detail::add_table(diagnosis, data, options.table);
  } else {
    const DatasetFolders folders = find_parts(data);
    add_part(diagnosis, "train", folders.train);
    add_part(diagnosis, "validation", folders.validation);
    add_part(diagnosis, "test", folders.test);
  }
  Examination(diagnosis, options).run();
  check_all(diagnosis, options);
  return diagnosis;
}

std::vector<std::size_t> clean_images(const Diagnosis& diagnosis) {
  std::set<std::pair<std::string_view, std::uint32_t>> omitted;  // paths and lines
  for (const Finding& finding : diagnosis.findings) {
    const bool error = traits_of(finding.kind).severity == Severity::kError;
    if (!error && finding.kind != FindingKind::kDuplicate) continue;
    for (std::size_t i = error ? 0 : 1; i < finding.paths.size(); ++i) {
      omitted.emplace(finding.paths[i], finding.lines.empty() ? 0 : finding.lines[i]);
    }
  }
  std::vector<std::size_t> clean;
  for (std::size_t i = 0; i < diagnosis.images.size(); ++i) {
    const ExaminedImage& image = diagnosis.images[i];
    if (image.part == 0 && !omitted.contains({image.path, image.line})) clean.push_back(i);
  }
  return clean;
}

}  // namespace stoker
