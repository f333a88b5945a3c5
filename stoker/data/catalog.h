/// \file
/// Finds datasets: by name (`mnist`, `fashion-mnist`) in the places where they usually lie, or by
/// the path of a folder. Nothing is fetched from a network but
/// what a URL names; what is missing is said, with the files
/// needed, every place looked at, and how to get them.
///
/// A folder holds {train,val,t10k}-{images-idx3,labels-idx1}-ubyte, plain or with .gz (plain is
/// taken where both are there; t10k is the test part, val may be missing), and optionally
/// classes.txt: one class name per line. A folder without any of those is one of images: with a
/// folder for each class, with train/, val/ and test/ in it, or with the lists train.txt, val.txt
/// and test.txt. A table (image_table.h) or list (image_list.h) of images and a single image are
/// data too, and so are shards (detail/open_shards.h), on this machine or behind a URL.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "stoker/core/environment.h"
#include "stoker/data/shards/shard_options.h"
#include "stoker/data/sources/folder_source.h"
#include "stoker/data/sources/source.h"
#include "stoker/data/sources/table_columns.h"
#include "stoker/export.h"

namespace stoker {

/// A part of a dataset.
enum class Split : std::uint8_t { kTrain, kValidation, kTest };

/// "train", "val", "test"
[[nodiscard]] STOKER_API const char* name_of(Split split);
/// All of them.
[[nodiscard]] STOKER_API std::vector<std::string> split_names();
/// Throws Error for a text that is none of them.
[[nodiscard]] STOKER_API Split parse_split(const std::string& text);

/// The parts that data has beside its training part. Data without parts (a folder of classes, a
/// list, a table without a column of parts, one image) is all training data.
struct DataParts {
  bool validation = false, test = false;

  [[nodiscard]] bool has(Split split) const noexcept {
    return split == Split::kTrain || (split == Split::kValidation ? validation : test);
  }
  [[nodiscard]] bool whole() const noexcept { return !validation && !test; }
  bool operator==(const DataParts&) const = default;
};

/// Where names are looked up; tests put their own in place.
struct DataPlaces {
  Environment environment;
  std::filesystem::path system_folder;  ///< of the distribution's packages: /usr/share/datasets
};
/// Those of this process and this machine.
[[nodiscard]] STOKER_API DataPlaces system_data_places();

/// How data is opened.
struct DataOptions {
  DataPlaces places = system_data_places();
  FolderOptions images = {};
  ShardOptions shards = {};
  TableColumns table = {};
  /// Whether a table without a column of labels is an Error; else its images have no classes, and
  /// columns of labels and weights that `table` names need not be there.
  bool needs_labels = true;
  /// Classes of a table, and their order, where it has no others: those of the model that is
  /// evaluated, or of the training data.
  std::vector<std::string> known_classes = {};
};

/// The names that open_data knows, for help texts.
[[nodiscard]] STOKER_API std::vector<std::string> known_data_names();

/// A known name wins over a folder of the same name in the working directory; "./mnist" means the
/// folder. By name, the first of these places that holds all four files is taken, so that training
/// and test data always come from the same one:
///
///     $STOKER_DATA/NAME, $STOKER_TEST_DATA/NAME,
///     $XDG_CACHE_HOME/stoker/NAME (else $HOME/.cache/stoker/NAME), SYSTEM_FOLDER/NAME
///
/// By path, the split's two files suffice.
/// Class names: classes.txt, else those known for the folder's name, else the labels' numbers (of
/// both splits, so that both have the same classes).
/// Throws Error where nothing is found or the files do not fit together.
/// Throws Error too where the data has no such part. A text that names a part or samples itself
/// means those, whatever split is asked for.
[[nodiscard]] STOKER_API std::shared_ptr<const Source> open_data(const std::string& name_or_path,
                                                                 Split split,
                                                                 const DataOptions& options = {});

/// Looks at names of files alone; reads a table; of data behind a URL asks for up to four objects.
/// Throws Error where the data does not exist.
[[nodiscard]] STOKER_API DataParts find_data_parts(const std::string& name_or_path,
                                                   const DataOptions& options = {});

/// What a model is evaluated on if nobody says: the test part, else the validation part, else all.
[[nodiscard]] STOKER_API Split evaluation_split(const DataParts& parts) noexcept;

}  // namespace stoker
