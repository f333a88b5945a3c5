// `stoker split`: divides a folder, a list or a table of images into training and validation, as
// lists, a table, links or copies.
#include "stoker/data/split.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/setting_flags.h"
#include "stoker/core/abandoned_files.h"
#include "stoker/core/error.h"
#include "stoker/core/plain_text.h"
#include "stoker/data/data_settings.h"
#include "stoker/data/sources/image_folder.h"
#include "stoker/data/sources/image_list.h"
#include "stoker/data/sources/image_table.h"
#include "stoker/data/sources/table_writer.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

struct SplitFlags {
  std::string data;
  std::string out;
  std::string as = "auto";
  SplitOptions options;
  TableColumns table;
  double fraction = 0;
};

// Its training part.
ImageListing open_table(const fs::path& table, const TableColumns& columns) {
  if (table_parts(table, columns).validation) {
    throw Error({.what = "this table is split already",
                 .path = table.string(),
                 .found = "rows of train and val",
                 .hint = "To split all rows again, rename the column of the parts and pass "
                         "--split-column none."});
  }
  return read_image_table(table, Split::kTrain, {.columns = columns, .needs_labels = false});
}

// A folder of classes, a dataset with a train folder in it, a list, or a table.
ImageListing open_listing(const fs::path& data, const TableColumns& columns) {
  std::error_code ignored;
  if (is_image_table(data)) return open_table(data, columns);
  if (fs::is_regular_file(data, ignored)) return read_image_list(data);
  const DatasetFolders parts = find_parts(data);
  if (!parts.validation.empty()) {
    throw Error(
        {.what = "this dataset is split already",
         .path = data.string(),
         .found = fmt::format("{} and {}", parts.train.filename().string(),
                              parts.validation.filename().string()),
         .hint = fmt::format("To split the first again, name it: {}", parts.train.string())});
  }
  return list_images(parts.train);
}

// Also where an image has several.
const std::vector<std::string>& classes_of(const ImageListing& listing) {
  const FieldInfo* several = find_field(listing.fields.fields(), kClassesField);
  return several == nullptr ? listing.class_names : several->values;
}

// For each of these classes.
std::vector<std::size_t> count_classes(const ImageListing& listing) {
  std::vector<std::size_t> counts(classes_of(listing).size());
  for (std::size_t i = 0; i < listing.images.size(); ++i) {
    const std::int32_t label = listing.images[i].label;
    if (label != kNoClass) ++counts[static_cast<std::size_t>(label)];
    if (listing.fields.fields().empty()) continue;
    for (const std::uint32_t place : listing.fields.classes(i)) ++counts[place];
  }
  return counts;
}

void print_table(const SplitParts& parts) {
  const auto train = count_classes(parts.train), validation = count_classes(parts.validation);
  std::vector<std::string> names;
  for (const std::string& name : classes_of(parts.train)) names.push_back(plain_text(name));
  std::size_t width = 5;
  for (const std::string& name : names) width = std::max(width, name.size());
  const auto row = [&](const std::string& name, auto a, auto b) {
    fmt::print("{:<{}}  {:>9}  {:>10}\n", name, width, a, b);
  };
  row("class", "train", "validation");
  for (std::size_t i = 0; i < names.size(); ++i) row(names[i], train[i], validation[i]);
  row("all", parts.train.images.size(), parts.validation.images.size());
}

void print_notes(const ImageListing& listing, const SplitParts& parts) {
  const auto train = count_classes(parts.train), validation = count_classes(parts.validation);
  const std::vector<std::string>& names = classes_of(listing);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (train[i] > 0 && validation[i] > 0) continue;
    fmt::print("note: {} has no images for {}\n", plain_text(names[i]),
               train[i] == 0 ? "training" : "validation");
  }
  if (parts.moved > 0) {
    fmt::print("note: {} images went with their exact duplicates to the other side\n", parts.moved);
  }
  if (parts.ungrouped > 0) {
    fmt::print("note: {} images have no group and stand alone\n", parts.ungrouped);
  }
  constexpr std::size_t kShown = 5;
  const std::size_t omitted = listing.ignored.size();
  for (std::size_t i = 0; i < std::min(omitted, kShown); ++i) {
    fmt::print("ignored: {}, {}\n", plain_text(listing.ignored[i].path),
               plain_text(listing.ignored[i].reason));
  }
  if (omitted > kShown) fmt::print("ignored: {} more\n", omitted - kShown);
}

void create_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return;
  throw Error({.what = "cannot make a folder",
               .path = folder.string(),
               .found = error.message(),
               .hint = "Check the path and who may write there, or choose another --out."});
}

// The relative path without steps upwards.
fs::path without_steps_up(const fs::path& path) {
  fs::path kept;
  for (const fs::path& step : path.lexically_normal().relative_path()) {
    if (step != "..") kept /= step;
  }
  return kept;
}

// Where an image goes inside train/ or val/: into its class's folder.
fs::path place_in_tree(const ImageListing& listing, const ListedImage& image) {
  if (image.label == kNoClass) return without_steps_up(image.path);
  const std::string& name = listing.class_names.at(static_cast<std::size_t>(image.label));
  if (image.path.starts_with(name + "/")) return without_steps_up(image.path);
  if (name == "." || name == ".." || name.find('/') != std::string::npos) {
    throw Error({.what = "cannot make a folder for a class",
                 .path = name,
                 .expected = "a name that a folder can have",
                 .hint = "Write lists (--as list), or rename the class."});
  }
  return name / without_steps_up(image.path);
}

// `shown` is the place that `to` will have.
void put_image(const fs::path& from, const fs::path& to, const fs::path& shown, bool link) {
  create_folder(to.parent_path());
  std::error_code error;
  if (link) {
    fs::create_symlink(from, to, error);
  } else {
    fs::copy_file(from, to, error);
  }
  if (!error) return;
  throw Error(
      {.what = fmt::format("cannot {} an image", link ? "link" : "copy"),
       .path = shown.string(),
       .found = error.message(),
       .hint = fmt::format("It comes from {}; nothing is left in the output.", from.string())});
}

// One of the two folders: where it will be, and where it is until both are whole.
struct Tree {
  fs::path place, begun;
};

void write_tree(const Tree& tree, const ImageListing& listing, bool link) {
  const fs::path root = fs::canonical(listing.root);  // links must not depend on where we stand
  for (const ListedImage& image : listing.images) {
    const fs::path name = place_in_tree(listing, image);
    put_image(root / image.path, tree.begun / name, tree.place / name, link);
  }
}

// A part without images has no folder.
void put_in_place(const Tree& tree) {
  if (!fs::exists(tree.begun)) return;
  std::error_code error;
  fs::rename(tree.begun, tree.place, error);
  if (!error) return;
  throw Error(
      {.what = "cannot write the split", .path = tree.place.string(), .found = error.message()});
}

// Images of an earlier split in the same folders would be on both sides.
void check_new(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(folder, ignored))) return;
  throw Error({.what = "cannot write the split: it would mix with what is there",
               .path = folder.string(),
               .hint = "Remove it, or choose another --out."});
}

// Inside the data it would become a part of it.
void check_outside(const fs::path& out, const fs::path& root) {
  std::error_code error;
  // Of a path that is not there yet, weakly_canonical() leaves what is relative relative.
  const fs::path way =
      fs::weakly_canonical(fs::absolute(out), error).lexically_relative(fs::canonical(root));
  if (!way.empty() && *way.begin() == "..") return;
  throw Error({.what = "cannot write the split into the folder that it divides",
               .path = out.string(),
               .hint = "Choose an --out beside the data."});
}

// A process that is killed leaves no part of the split: what it wrote is in a hidden folder, which
// no listing reads. Validation is first in place, so that `train` is there only beside it.
void write_trees(const fs::path& out, const SplitParts& parts, bool link) {
  const fs::path begun = out / fmt::format(".stoker-{}-0.tmp", ::getpid());
  const Tree train{.place = out / "train", .begun = begun / "train"};
  const Tree validation{.place = out / "val", .begun = begun / "val"};
  check_new(train.place);
  check_new(validation.place);
  create_folder(out);
  remove_abandoned_files(out);
  std::error_code ignored;
  fs::remove_all(begun, ignored);  // of a killed process with our number
  try {
    write_tree(train, parts.train, link);
    write_tree(validation, parts.validation, link);
    put_in_place(validation);
    put_in_place(train);
  } catch (...) {
    fs::remove_all(begun, ignored);
    throw;
  }
  fs::remove_all(begun, ignored);
}

void write_lists(const fs::path& out, const SplitParts& parts) {
  create_folder(out);
  const fs::path validation = out / "val.txt";
  const auto train_list = begin_image_list(out / "train.txt", parts.train);
  const auto validation_list = begin_image_list(validation, parts.validation);
  // A new list beside that of an earlier split would share images with it: a process that is killed
  // here leaves one alone.
  if (fs::is_regular_file(validation)) fs::remove(fs::canonical(validation));
  train_list->commit();
  validation_list->commit();
}

// One table, under the name of the old one.
fs::path new_table(const SplitFlags& flags) {
  const fs::path table = flags.data, out = fs::path(flags.out) / table.filename();
  std::error_code ignored;
  if (!fs::equivalent(table, out, ignored)) return out;
  throw Error({.what = "cannot write the split over the table that it divides",
               .path = out.string(),
               .hint = "Choose another --out."});
}

void write_table(const fs::path& out, const SplitFlags& flags, const SplitParts& parts) {
  create_folder(flags.out);
  std::unordered_map<std::uint32_t, Split> split_of_line;
  for (const ListedImage& image : parts.train.images) split_of_line[image.line] = Split::kTrain;
  for (const ListedImage& image : parts.validation.images) {
    split_of_line[image.line] = Split::kValidation;
  }
  write_split_table(out, flags.data, flags.table, split_of_line);
}

// "table" or what was asked for, where the data can be written so.
std::string form_of(const SplitFlags& flags, const ImageListing& listing) {
  const bool is_table = !listing.table.empty();
  if (flags.as == "auto") return is_table ? "table" : "list";
  const bool one_class = find_field(listing.fields.fields(), kClassesField) == nullptr &&
                         find_field(listing.fields.fields(), kTargetField) == nullptr;
  if (flags.as == "table" ? is_table : one_class) return flags.as;
  throw Error({.what = fmt::format("cannot write the split as {}", flags.as),
               .path = flags.data,
               .expected = is_table ? "one class for each image" : "a table of images",
               .hint = is_table ? "Write a table (--as table)." : "Write lists (--as list)."});
}

std::vector<fs::path> write_split(const SplitFlags& flags, const ImageListing& listing,
                                  const SplitParts& parts) {
  const std::string form = form_of(flags, listing);
  const fs::path out = flags.out;
  if (form == "table") {
    const fs::path table = new_table(flags);
    write_table(table, flags, parts);
    return {table};
  }
  if (form == "list") {
    write_lists(out, parts);
    return {out / "train.txt", out / "val.txt"};
  }
  if (fs::is_directory(flags.data)) check_outside(out, listing.root);
  write_trees(out, parts, form == "links");
  return {out / "train", out / "val"};
}

void run(const SplitFlags& flags) {
  const ImageListing listing = open_listing(flags.data, flags.table);
  const SplitParts parts = split_listing(listing, flags.options);
  const std::vector<fs::path> written = write_split(flags, listing, parts);
  print_table(parts);
  print_notes(listing, parts);
  std::vector<std::string> names;
  for (const fs::path& path : written) names.push_back(path.string());
  fmt::print("written: {}\n", fmt::join(names, ", "));
}

}  // namespace

void add_split_command(const Command& parent) {
  const Command command =
      parent.add_command("split", "Split a dataset into training and validation");
  auto flags = std::make_shared<SplitFlags>();
  command
      .add_option("data", flags->data,
                  "a folder with a folder for each class, a list or a table (.csv, .tsv)")
      .required();
  command.add_option("--out", flags->out, "the folder to write to").required();
  const Flag every =
      command
          .add_option("--every", flags->options.every,
                      "of each class the first image (or group) of every N goes to validation")
          .between(2, 1'000'000'000);
  const Flag fraction =
      command
          .add_option("--fraction", flags->fraction,
                      "this share goes to validation, chosen by the seed, e.g. 0.2")
          .excludes(every)
          .hide_default();
  command
      .add_flag("--stratified", flags->options.stratified,
                "with --fraction: the fraction of each class")
      .needs(fraction);
  command.add_option("--group", flags->options.group,
                     "a regular expression on the path, e.g. \"patient([0-9]+)_\": images for "
                     "which the part in () is the same stay together");
  command.add_option("--seed", flags->options.seed, "all randomness follows from it");
  command
      .add_option("--as", flags->as,
                  "list: train.txt and val.txt; table: the table with a column of the parts; links "
                  "or copies: folders train and val; auto: a table of a table, else lists")
      .one_of({"auto", "list", "table", "links", "copies"});
  add_settings(command, settings_of(flags->table));
  command.on_run([flags, fraction] {
    if (fraction.is_given()) flags->options.fraction = flags->fraction;
    run(*flags);
  });
}

}  // namespace stoker
