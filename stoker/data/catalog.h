// Finds data sets: by name (`mnist`, `fashion-mnist`) in the places where they usually lie, or by
// the path of a folder. Nothing is fetched from a network but
// what a URL names; what is missing is said, with the files
// needed, every place looked at, and how to get them.
//
// A folder holds {train,t10k}-{images-idx3,labels-idx1}-ubyte, plain or with .gz (plain is taken
// where both are there), and optionally classes.txt: one class name per line. A folder without any
// of those is one of pictures: with a folder for each class, with train/ and val/ in it, or with
// the lists train.txt and val.txt. A list of pictures (image_list.h) and a single picture are data
// too, and so are shards (detail/open_shards.h), on this machine or behind a URL.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "stoker/core/environment.h"
#include "stoker/data/folder_source.h"
#include "stoker/data/shard_set.h"
#include "stoker/data/source.h"

namespace stoker {

enum class Split {
  kTrain,
  kTest,    // what training validates on: of pictures the validation part, else the test part
  kJudged,  // what a model is tried on: the same, or all of it where data has no parts
};

// Where names are looked up; tests put their own in place.
struct DataPlaces {
  Environment environment;
  std::filesystem::path system_folder;  // of the distribution's packages: /usr/share/datasets
};
[[nodiscard]] DataPlaces system_data_places();

struct DataOptions {
  DataPlaces places = system_data_places();
  FolderOptions pictures = {};
  ShardOptions shards = {};
};

// The names that open_data knows, for help texts.
[[nodiscard]] std::vector<std::string> known_data_names();

// A known name wins over a folder of the same name in the working directory; "./mnist" means the
// folder. By name, the first of these places that holds all four files is taken, so that training
// and test data always come from the same one:
//   $STOKER_DATA/<name>, $STOKER_TEST_DATA/<name>,
//   $XDG_CACHE_HOME/stoker/<name> (else $HOME/.cache/stoker/<name>), <system folder>/<name>
// By path, the split's two files suffice.
// Class names: classes.txt, else those known for the folder's name, else the labels' numbers (of
// both splits, so that both have the same classes).
// Throws Error where nothing is found or the files do not fit together.
[[nodiscard]] std::shared_ptr<const Source> open_data(const std::string& name_or_path, Split split,
                                                      const DataOptions& options = {});

struct TrainingPair {
  std::shared_ptr<const Source> train, validation;
};
// Both parts of the data. Of pictures without a validation part every `every`-th of each class
// validates (split.h) and is not trained on; 0: such data is an Error.
[[nodiscard]] TrainingPair open_training_pair(const std::string& name_or_path, std::uint32_t every,
                                              const DataOptions& options = {});

}  // namespace stoker
