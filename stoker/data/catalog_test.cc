#include "stoker/data/catalog.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/data/test_files.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Places inside one folder: nothing of the machine's own is looked at.
class CatalogTest : public ::testing::Test {
 protected:
  DataPlaces places() const {
    return {.environment = [this](const char* name) -> std::optional<std::string> {
              const auto found = environment_.find(name);
              if (found == environment_.end()) return std::nullopt;
              return found->second;
            },
            .system_folder = folder_.path() / "system"};
  }
  void set(const std::string& variable, const std::string& subfolder) {
    environment_[variable] = (folder_.path() / subfolder).string();
  }
  // n training samples tell where a dataset came from.
  void put(const std::filesystem::path& where, std::uint32_t n, const std::string& suffix = "") {
    for (const char* split : {"train", "t10k"}) {
      put_split(where, split, Bytes(n, 1), suffix);
    }
  }
  void put_split(const std::filesystem::path& where, const std::string& split, const Bytes& labels,
                 const std::string& suffix = "") {
    const auto pack = [&](const Bytes& bytes) {
      return suffix.empty() ? bytes : gzip_bytes(bytes);
    };
    folder_.write(where / (split + "-images-idx3-ubyte" + suffix),
                  pack(images_idx(static_cast<std::uint32_t>(labels.size()))));
    folder_.write(where / (split + "-labels-idx1-ubyte" + suffix), pack(labels_idx(labels)));
  }
  std::uint64_t size_of(const std::string& name) const {
    return open_data(name, Split::kTrain, {.places = places()})->size();
  }
  std::string message(const std::string& name) const {
    return to_string(error_of([&] { (void)open_data(name, Split::kTrain, {.places = places()}); }));
  }
  std::string path(const std::string& subfolder) const {
    return (folder_.path() / subfolder).string();
  }

  TempFolder folder_;
  std::map<std::string, std::string> environment_;
};

TEST_F(CatalogTest, LooksAtThePlacesInOrder) {
  set("STOKER_DATA", "data");
  set("STOKER_TEST_DATA", "test_data");
  set("XDG_CACHE_HOME", "cache");
  set("HOME", "home");
  put("system/mnist", 1, ".gz");
  EXPECT_EQ(size_of("mnist"), 1U);
  put("home/.cache/stoker/mnist", 9);
  EXPECT_EQ(size_of("mnist"), 1U);  // XDG_CACHE_HOME takes the place of ~/.cache
  put("cache/stoker/mnist", 2);
  EXPECT_EQ(size_of("mnist"), 2U);
  put("test_data/mnist", 3);
  EXPECT_EQ(size_of("mnist"), 3U);
  put("data/mnist", 4);
  EXPECT_EQ(size_of("mnist"), 4U);
}

TEST_F(CatalogTest, FallsBackToTheCacheInTheHomeFolder) {
  set("HOME", "home");
  environment_["XDG_CACHE_HOME"] = "";
  put("home/.cache/stoker/fashion-mnist", 5);
  EXPECT_EQ(size_of("fashion-mnist"), 5U);
}

TEST_F(CatalogTest, PassesOverAPlaceThatIsNotComplete) {
  set("STOKER_DATA", "data");
  put("data/mnist", 4);
  put("system/mnist", 1);
  std::filesystem::remove(path("data/mnist/t10k-labels-idx1-ubyte"));
  EXPECT_EQ(size_of("mnist"), 1U);
}

TEST_F(CatalogTest, PrefersPlainFilesToPackedOnes) {
  put("system/mnist", 1, ".gz");
  put("system/mnist", 2);
  EXPECT_EQ(size_of("mnist"), 2U);
}

TEST_F(CatalogTest, OpensTheSplitThatWasAsked) {
  put_split("own", "train", {0, 1, 2});
  put_split("own", "t10k", {0});
  EXPECT_EQ(open_data(path("own"), Split::kTrain)->size(), 3U);
  EXPECT_EQ(open_data(path("own"), Split::kTest)->size(), 1U);
}

TEST_F(CatalogTest, AnIdxFolderMayHaveAValidationPart) {
  put_split("own", "train", {0, 1, 2});
  put_split("own", "t10k", {0});
  EXPECT_EQ(find_data_parts(path("own")), (DataParts{.validation = false, .test = true}));
  const std::string refusal =
      to_string(error_of([&] { (void)open_data(path("own"), Split::kValidation); }));
  EXPECT_THAT(refusal, AllOf(HasSubstr("no validation part"), HasSubstr("train and test")));
  put_split("own", "val", {0, 1});
  EXPECT_EQ(find_data_parts(path("own")), (DataParts{.validation = true, .test = true}));
  EXPECT_EQ(open_data(path("own"), Split::kValidation)->size(), 2U);
}

TEST_F(CatalogTest, SplitsHaveNames) {
  for (const Split split : {Split::kTrain, Split::kValidation, Split::kTest}) {
    EXPECT_EQ(parse_split(name_of(split)), split);
  }
  EXPECT_THROW((void)parse_split("judged"), Error);
  EXPECT_EQ(evaluation_split({.validation = true, .test = true}), Split::kTest);
  EXPECT_EQ(evaluation_split({.validation = true, .test = false}), Split::kValidation);
  EXPECT_EQ(evaluation_split({}), Split::kTrain);
}

TEST_F(CatalogTest, SaysWhatIsNeededAndWhereItLookedWhenNothingIsThere) {
  set("STOKER_DATA", "data");
  put("data/fashion-mnist", 4);
  std::filesystem::remove(path("data/fashion-mnist/train-labels-idx1-ubyte"));
  const std::string text = message("fashion-mnist");
  for (const char* file : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                           "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}) {
    EXPECT_THAT(text, HasSubstr(file));
  }
  EXPECT_THAT(text, HasSubstr(path("data/fashion-mnist") + " (lacks train-labels-idx1-ubyte)"));
  EXPECT_THAT(text, HasSubstr("$STOKER_TEST_DATA/fashion-mnist (not set)"));
  EXPECT_THAT(text, HasSubstr(path("system/fashion-mnist") + " (no such folder)"));
  EXPECT_THAT(text, HasSubstr("apt install dataset-fashion-mnist"));
  EXPECT_THAT(message("mnist"), AllOf(HasSubstr("$STOKER_DATA/mnist"), Not(HasSubstr("apt"))));
}

TEST_F(CatalogTest, KnowsTheClassesOfNamedDataSets) {
  put("system/fashion-mnist", 1);
  put("system/mnist", 1);
  const auto fashion = open_data("fashion-mnist", Split::kTest, {.places = places()});
  EXPECT_THAT(fashion->class_names(),
              ElementsAre("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt",
                          "Sneaker", "Bag", "Ankle boot"));
  EXPECT_EQ(open_data("mnist", Split::kTest, {.places = places()})->class_names().size(), 10U);
}

TEST_F(CatalogTest, KnowsTheClassesOfAFolderByItsName) {
  put("x/fashion-mnist", 1);
  for (const char* folder : {"x/fashion-mnist", "x/fashion-mnist/", "x/fashion-mnist/."}) {
    EXPECT_EQ(open_data(path(folder), Split::kTrain)->class_names().back(), "Ankle boot") << folder;
  }
}

TEST_F(CatalogTest, NumbersTheClassesOfBothSplitsAlike) {
  put_split("own", "train", {0, 1, 4});
  put_split("own", "t10k", {0, 1});
  for (const Split split : {Split::kTrain, Split::kTest}) {
    EXPECT_EQ(open_data(path("own"), split)->class_names().size(), 5U);
  }
}

TEST_F(CatalogTest, ReadsClassNamesFromAFile) {
  put("mnist", 2);
  const std::string text = "cat\r\ndog with spaces\nbird";
  folder_.write("mnist/classes.txt", Bytes(text.begin(), text.end()));
  const auto source = open_data(path("mnist"), Split::kTrain);
  EXPECT_THAT(source->class_names(), ElementsAre("cat", "dog with spaces", "bird"));
}

TEST_F(CatalogTest, RefusesClassNamesThatAreEmptyOrRepeated) {
  put("own", 2);
  for (const std::string text : {"", "cat\n\ndog\n", "cat\ndog\ncat\n"}) {
    folder_.write("own/classes.txt", Bytes(text.begin(), text.end()));
    const std::string error = message(path("own"));
    EXPECT_THAT(error, AllOf(HasSubstr("classes.txt"), HasSubstr("different names"))) << text;
  }
}

TEST_F(CatalogTest, RefusesTooFewClassNames) {
  put_split("own", "train", {0, 1, 2});
  const std::string text = "cat\ndog\n";
  folder_.write("own/classes.txt", Bytes(text.begin(), text.end()));
  EXPECT_THAT(message(path("own")), HasSubstr("label of sample 2 has no class name"));
}

TEST_F(CatalogTest, SaysWhichFilesAFolderLacks) {
  put_split("own", "t10k", {0});
  EXPECT_EQ(open_data(path("own"), Split::kTest)->size(), 1U);
  EXPECT_THAT(message(path("own")),
              HasSubstr("without train-images-idx3-ubyte, train-labels-idx1-ubyte"));
}

TEST_F(CatalogTest, RefusesAFileThatIsNoList) {
  const auto file = folder_.write("file", {0, 1});
  EXPECT_THAT(message(file.string()),
              AllOf(HasSubstr("a list of images"), HasSubstr("a zero byte")));
}

TEST_F(CatalogTest, SaysThatAPathDoesNotExistAndWhichNamesItKnows) {
  const std::string text = message(path("nowhere/mnist"));
  EXPECT_THAT(text, HasSubstr("mnist, fashion-mnist"));
  EXPECT_THAT(text, HasSubstr("a path, or one of the names"));
  EXPECT_THAT(text, Not(HasSubstr("Did you mean")));
}

TEST_F(CatalogTest, ProposesTheNameThatWasProbablyMeant) {
  EXPECT_THAT(message("minst"), HasSubstr("Did you mean mnist?"));
  EXPECT_THAT(message("MNIST"), HasSubstr("Did you mean mnist?"));
  EXPECT_THAT(message("FashionMNIST"), HasSubstr("Did you mean fashion-mnist?"));
  EXPECT_THAT(message("fashion"), HasSubstr("Did you mean fashion-mnist?"));
  EXPECT_THAT(message("cifar10"), Not(HasSubstr("Did you mean")));
  EXPECT_THAT(message(""), HasSubstr("mnist, fashion-mnist"));
}

TEST(Catalog, FindsTheRealMnist) {
  STOKER_NEEDS(test_data() / "mnist");
  const DataPlaces places = {.environment = [](const char* name) -> std::optional<std::string> {
                               if (std::string(name) != "STOKER_TEST_DATA") return std::nullopt;
                               return test_data().string();
                             },
                             .system_folder = "none"};
  EXPECT_EQ(open_data("mnist", Split::kTrain, {.places = places})->size(), 60000U);
  EXPECT_EQ(open_data("mnist", Split::kTest, {.places = places})->size(), 10000U);
}

TEST(Catalog, FindsTheFashionMnistOfTheSystem) {
  const DataPlaces places = {
      .environment = [](const char*) { return std::optional<std::string>(); },
      .system_folder = system_data_places().system_folder};
  if (!std::filesystem::exists(places.system_folder / "fashion-mnist")) {
    GTEST_SKIP() << "needs Debian's package dataset-fashion-mnist";
  }
  const auto train = open_data("fashion-mnist", Split::kTrain, {.places = places});
  EXPECT_EQ(train->size(), 60000U);
  SampleBuffer buffer;
  EXPECT_EQ(train->class_names()[train->read(0, buffer).value().label], "Ankle boot");
  EXPECT_EQ(open_data("fashion-mnist", Split::kTest, {.places = places})->size(), 10000U);
}

}  // namespace
}  // namespace stoker
