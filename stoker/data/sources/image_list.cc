#include "stoker/data/sources/image_list.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "stoker/core/atomic_file.h"
#include "stoker/core/error.h"
#include "stoker/core/input_file.h"
#include "stoker/core/suggest.h"
#include "stoker/data/detail/relative_prefix.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kClasses = "#classes\t";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kLongestLine = 8192;  // twice the longest path

// Views of the file's text.
struct ListLine {
  std::string_view path = {}, class_name = {};
  bool has_class = false;
  std::size_t number = 0;  // from 1
  std::size_t offset = 0;
};

class ListReader {
 public:
  ListReader(const fs::path& list, std::string_view text) : list_(list), text_(text) {}

  ImageListing read();

 private:
  void read_lines();
  void read_line(std::string_view line);
  void read_classes(std::string_view names);
  void check_is_no_table(std::string_view line);
  void check_path(const ListLine& line);
  void number_classes();
  ListedImage examine(const ListLine& line);
  void check_found() const;
  [[noreturn]] void fail(const ListLine& line, std::string expected, std::string found,
                         std::string hint) const;

  const fs::path& list_;
  std::string_view text_;
  ListLine here_;  // the line being read
  std::vector<ListLine> lines_;
  std::unordered_map<std::string_view, std::size_t> line_of_path_;
  std::vector<std::string> class_names_;
  std::unordered_map<std::string_view, std::int32_t> labels_;
  std::size_t missing_ = 0;
  std::string first_missing_;
};

void ListReader::fail(const ListLine& line, std::string expected, std::string found,
                      std::string hint) const {
  throw Error({.what = fmt::format("cannot read line {} of a list of images", line.number),
               .path = list_.string(),
               .offset = line.offset,
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = std::move(hint)});
}

void ListReader::read_lines() {
  std::string_view rest = text_;
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    here_ = {.number = here_.number + 1, .offset = text_.size() - rest.size()};
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool too_long = line.size() > kLongestLine;
    if (too_long || line.find('\0') != std::string_view::npos) {
      fail(here_, "text: a path, and after a tab a class",
           too_long ? fmt::format("a line of {} bytes", line.size()) : "a zero byte",
           "Is this the list, and not an image or another file?");
    }
    if (!line.empty()) read_line(line);
  }
}

void ListReader::read_line(std::string_view line) {
  if (line.starts_with(kClasses)) return read_classes(line.substr(kClasses.size()));
  if (line.starts_with('#')) return;
  const std::size_t tab = line.find('\t');
  here_.path = line.substr(0, tab);
  here_.has_class = tab != std::string_view::npos;
  if (here_.has_class) here_.class_name = line.substr(tab + 1);
  check_is_no_table(line);
  check_path(here_);
  lines_.push_back(here_);
}

// Tables with commas are a habit of many. A comma in a path is taken for one where the file is
// there; one in a class only where the list names its classes.
void ListReader::check_is_no_table(std::string_view line) {
  std::error_code ignored;
  if (!here_.has_class && line.find(',') != std::string_view::npos && !has_image_extension(line) &&
      !fs::exists(list_.parent_path() / fs::path(line), ignored)) {
    fail(here_, "a path, a tab and a class, such as img.jpg<tab>dog",
         fmt::format("commas and no tab: \"{}\"", line.substr(0, 100)),
         "Write a tab between path and class, and remove a line of titles; or name the file .csv: "
         "then it is a table.");
  }
  if (here_.has_class && class_names_.empty() &&
      here_.class_name.find(',') != std::string_view::npos) {
    fail(here_, "one class an image",
         fmt::format("a comma in the class \"{}\"", here_.class_name.substr(0, 100)),
         "Keep one class. Where the comma belongs to its name, begin the list with a line "
         "#classes<tab>first<tab>second that names all classes.");
  }
}

void ListReader::check_path(const ListLine& line) {
  const bool bad_class = line.has_class && (line.class_name.empty() ||
                                            line.class_name.find('\t') != std::string_view::npos);
  if (line.path.empty() || bad_class) {
    fail(line, "a path, and after a single tab a class", "no path, an empty class or a second tab",
         "Correct the line.");
  }
  if (!lines_.empty() && lines_.front().has_class != line.has_class) {
    fail(line, "a class on every line or on none",
         line.has_class ? "the first class" : "a line without a class",
         "Write the class after a tab, or take all classes out.");
  }
  const auto [known, is_new] = line_of_path_.emplace(line.path, line.number);
  if (!is_new) {
    fail(line, "every image once", fmt::format("{} again, as in line {}", line.path, known->second),
         "Remove one of the two lines.");
  }
}

void ListReader::read_classes(std::string_view names) {
  if (!lines_.empty() || !class_names_.empty()) {
    fail(here_, "one line of classes, before the first image", "another one",
         "Move it to the beginning, or remove it.");
  }
  while (true) {
    const std::size_t end = std::min(names.find('\t'), names.size());
    std::string name(names.substr(0, end));
    if (name.empty() || std::ranges::find(class_names_, name) != class_names_.end()) {
      fail(here_, "different names, with one tab between them",
           name.empty() ? "an empty name" : fmt::format("{} twice", name), "Correct the line.");
    }
    class_names_.push_back(std::move(name));
    if (end == names.size()) return;
    names.remove_prefix(end + 1);
  }
}

void ListReader::number_classes() {
  const bool given = !class_names_.empty();
  if (!given && lines_.front().has_class) {
    for (const ListLine& line : lines_) {
      if (labels_.emplace(line.class_name, 0).second) class_names_.emplace_back(line.class_name);
    }
    std::ranges::sort(class_names_);
    labels_.clear();
  }
  if (given && !lines_.front().has_class) {
    fail(lines_.front(), "a class on every line, since the list names its classes",
         "a line without a class", "Write the class after a tab, or remove the line of classes.");
  }
  for (std::size_t i = 0; i < class_names_.size(); ++i) {
    labels_.emplace(class_names_[i], static_cast<std::int32_t>(i));
  }
}

ListedImage ListReader::examine(const ListLine& line) {
  ListedImage image{.path = std::string(line.path)};
  if (line.has_class) {
    const auto label = labels_.find(line.class_name);
    if (label == labels_.end()) {
      const std::string closest = closest_name(line.class_name, class_names_);
      fail(line, "one of the classes that the list names", std::string(line.class_name),
           closest.empty() ? "Add it to the line of classes." : "Did you mean " + closest + "?");
    }
    image.label = label->second;
  }
  struct stat status {};
  if (::stat((list_.parent_path() / image.path).c_str(), &status) != 0 ||
      !S_ISREG(status.st_mode)) {
    if (missing_++ == 0) first_missing_ = fmt::format("{} in line {}", line.path, line.number);
    return image;
  }
  image.bytes = static_cast<std::uint64_t>(status.st_size);
  image.modified_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  return image;
}

void ListReader::check_found() const {
  if (missing_ == 0) return;
  throw Error(
      {.what = "images of a list are not there",
       .path = list_.string(),
       .expected = fmt::format("{} files", lines_.size()),
       .found = fmt::format("{} missing, the first is {}", missing_, first_missing_),
       .hint = "Relative paths start at the list's own folder: was it moved, or the data?"});
}

ImageListing ListReader::read() {
  read_lines();
  if (lines_.empty()) {
    throw Error({.what = "a list of images is empty",
                 .path = list_.string(),
                 .expected = "one path a line, and after a tab the class",
                 .found = "none",
                 .hint = "Check that this is the list that was meant."});
  }
  number_classes();
  ImageListing listing;
  listing.root = list_.has_parent_path() ? list_.parent_path() : fs::path(".");
  listing.images.reserve(lines_.size());
  for (const ListLine& line : lines_) listing.images.push_back(examine(line));
  check_found();
  listing.class_names = std::move(class_names_);
  return listing;
}

void check_writable(std::string_view name, const char* kind) {
  if (name.find_first_of("\t\n\r") == std::string_view::npos) return;
  std::string shown(name);
  std::ranges::replace_if(
      shown, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, '?');
  throw Error({.what = fmt::format("cannot write a {} into a list of images", kind),
               .path = shown,
               .expected = "a name without tabs and ends of lines",
               .found = "one with them, shown as '?'",
               .hint = "Rename it."});
}

}  // namespace

ImageListing read_image_list(const fs::path& list) {
  const FileBytes file(list);
  return ListReader(list, file.text()).read();
}

std::unique_ptr<AtomicFile> begin_image_list(const fs::path& list, const ImageListing& listing) {
  std::string text;
  if (!listing.class_names.empty()) {
    text = "#classes";
    for (const std::string& name : listing.class_names) {
      check_writable(name, "class");
      text += "\t" + name;
    }
    text += '\n';
  }
  const std::string prefix = detail::relative_prefix(list, listing.root);
  for (const ListedImage& image : listing.images) {
    check_writable(image.path, "path");
    const std::string path = image.path.starts_with('/') ? image.path : prefix + image.path;
    if (path.starts_with('#')) text += "./";
    text += path;
    if (image.label != kNoClass) {
      text += '\t' + listing.class_names.at(static_cast<std::size_t>(image.label));
    }
    text += '\n';
  }
  auto file = std::make_unique<AtomicFile>(list, "list of images");
  file->write(std::as_bytes(std::span(text)));
  return file;
}

void write_image_list(const fs::path& list, const ImageListing& listing) {
  begin_image_list(list, listing)->commit();
}

}  // namespace stoker
