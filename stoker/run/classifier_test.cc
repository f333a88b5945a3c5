// Classifier of stoker/predict.h: the same as Predictor, image by image and from many threads.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/image/jpeg.h"
#include "stoker/image/png.h"
#include "stoker/image/test_images.h"
#include "stoker/nn/model_file.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/predict.h"
#include "stoker/stoker_predict.h"

namespace stoker {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kImages = 12;

// A network with random weights, and photographs of different sizes and kinds.
class ClassifierFiles {
 public:
  explicit ClassifierFiles(const char* architecture = "cnn:small", int side = 32) {
    const ImageShape image{.height = side, .width = side, .channels = 3};
    const auto model = make_model(architecture, {.image = image, .classes = 4}, /*seed=*/3);
    save_model(weights(), *model, {"ant", "bee", "cat", "dog"},
               {.mean = {0.4, 0.5, 0.6, 0},
                .deviation = {0.2, 0.2, 0.3, 1},
                .framing = fmt::format("resize_crop({},{})", side + 4, side)});
    for (std::size_t i = 0; i < kImages; ++i) add_photo(i);
  }
  [[nodiscard]] std::string weights() const { return (folder_.path() / "m.safetensors").string(); }
  [[nodiscard]] std::string photos() const { return (folder_.path() / "photos").string(); }
  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }

 private:
  void add_photo(std::size_t i) {
    const auto side = static_cast<int>(40 + 7 * i);
    const Image photo = test::random_image({.height = side, .width = 60, .channels = 3}, i);
    const std::vector<std::byte> file =
        i % 2 == 0 ? encode_jpeg(photo.view(), 80) : encode_png(photo.view());
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(file.data());
    const std::string name = "photos/" + std::to_string(100 + i) + (i % 2 == 0 ? ".jpg" : ".png");
    paths_.push_back(folder_.write(name, Bytes(bytes, bytes + file.size())).string());
  }
  TempFolder folder_;
  std::vector<std::string> paths_;
};

// Sums of products may be taken in another order in a batch of another size.
void expect_near(const ImagePrediction& found, const ImagePrediction& expected) {
  EXPECT_EQ(found.label, expected.label);
  ASSERT_EQ(found.probabilities.size(), expected.probabilities.size());
  for (std::size_t c = 0; c < found.probabilities.size(); ++c) {
    EXPECT_NEAR(found.probabilities[c], expected.probabilities[c], 1e-5);
  }
}

std::vector<std::byte> file_bytes(const std::string& path) {
  const Bytes bytes = contents_of(path);
  const auto all = as_span(bytes);
  return {all.begin(), all.end()};
}

void expect_the_same_as_the_predictor(const ClassifierFiles& files) {
  Predictor predictor(files.weights(), {.device = "cpu", .batch_size = 1});
  const std::vector<ImagePrediction> expected = predictor.predict(files.photos());
  const Classifier classifier(files.weights(), {.device = "cpu", .max_batch = 1});
  ASSERT_EQ(expected.size(), kImages);
  for (std::size_t i = 0; i < kImages; ++i) {
    ASSERT_EQ(std::filesystem::path(expected[i].name).filename(),
              std::filesystem::path(files.paths()[i]).filename());
    const Classification of_file = classifier.classify_file(files.paths()[i]);
    EXPECT_TRUE(of_file.ok()) << of_file.error;
    EXPECT_EQ(of_file.probabilities, expected[i].probabilities);
    EXPECT_EQ(of_file.label, expected[i].label);
    EXPECT_EQ(of_file.probability, expected[i].probability);
    EXPECT_EQ(classifier.class_names()[of_file.best], of_file.label);
    const Classification of_bytes = classifier.classify(file_bytes(files.paths()[i]));
    EXPECT_EQ(of_bytes.probabilities, expected[i].probabilities);
  }
}

TEST(Classifier, EqualsThePredictorToTheLastBitInBatchesOfOne) {
  expect_the_same_as_the_predictor(ClassifierFiles());
}

TEST(Classifier, EqualsThePredictorToTheLastBitWithAnEngine) {
  const ClassifierFiles files("resnet18", 64);  // large enough for one
  EXPECT_THAT(Classifier(files.weights(), {.device = "cpu"}).description(),
              testing::HasSubstr("LibTorch"));
  expect_the_same_as_the_predictor(files);
}

TEST(Classifier, TakesPixelsAndValues) {
  const ClassifierFiles files;
  const Classifier classifier(files.weights(), {.device = "cpu"});
  const Image photo = test::random_image({.height = 47, .width = 60, .channels = 3}, 1);
  const Classification of_file = classifier.classify_file(files.paths()[1]);
  const Classification of_pixels =
      classifier.classify_pixels({.data = photo.view().data, .height = 47, .width = 60});
  EXPECT_EQ(of_pixels.probabilities, of_file.probabilities);
  stoker_preprocessor* preprocessor =
      stoker_preprocessor_from_model(files.weights().c_str(), STOKER_FLOAT_NCHW);
  ASSERT_NE(preprocessor, nullptr) << stoker_last_error();
  std::vector<float> values(classifier.input().values());
  EXPECT_EQ(stoker_preprocess_file(preprocessor, files.paths()[1].c_str(), values.data(),
                                   values.size() * sizeof(float)),
            STOKER_OK);
  stoker_preprocessor_free(preprocessor);
  EXPECT_EQ(classifier.classify_values(values).probabilities, of_file.probabilities);
  values.pop_back();
  EXPECT_EQ(classifier.classify_values(values).status, ClassifyStatus::kBadImage);
  EXPECT_EQ(classifier.classify_pixels({}).status, ClassifyStatus::kBadImage);
}

TEST(Classifier, GivesSixteenThreadsTheirOwnAnswers) {
  const ClassifierFiles files;
  Predictor predictor(files.weights(), {.device = "cpu", .batch_size = 1});
  const std::vector<ImagePrediction> expected = predictor.predict(files.photos());
  const Classifier classifier(files.weights(), {.device = "cpu", .max_batch = 8});
  constexpr int kThreads = 16, kCalls = 24;
  std::vector<std::vector<Classification>> found(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kCalls; ++i) {
          const auto number = static_cast<std::size_t>(t + i) % kImages;
          found[static_cast<std::size_t>(t)].push_back(
              classifier.classify_file(files.paths()[number]));
        }
      });
    }
  }
  for (std::size_t t = 0; t < found.size(); ++t) {
    for (std::size_t i = 0; i < found[t].size(); ++i) {
      ASSERT_TRUE(found[t][i].ok()) << found[t][i].error;
      expect_near(found[t][i], expected[(t + i) % kImages]);
    }
  }
  const ClassifierStats stats = classifier.stats();
  EXPECT_EQ(stats.images, static_cast<std::uint64_t>(kThreads * kCalls));
  EXPECT_LT(stats.batches, stats.images);  // some were computed together
}

TEST(Classifier, ABadImageIsTheFaultOfItsCallerAlone) {
  const ClassifierFiles files;
  const Classifier classifier(files.weights(), {.device = "cpu", .max_pixels = 100'000});
  const Classification expected = classifier.classify_file(files.paths()[0]);
  std::vector<std::byte> cut = file_bytes(files.paths()[0]);
  cut.resize(cut.size() / 2);
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 10; ++i) {
          if (t % 2 == 0) {
            const Classification bad = classifier.classify(cut);
            if (bad.status != ClassifyStatus::kBadImage || bad.error.empty()) ++wrong;
          } else if (classifier.classify_file(files.paths()[0]).label != expected.label) {
            ++wrong;
          }
        }
      });
    }
  }
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(classifier.stats().bad_images, 40U);
  EXPECT_THAT(classifier.classify_file("/nowhere/a.jpg").error,
              testing::HasSubstr("/nowhere/a.jpg"));
  const Image large = test::random_image({.height = 400, .width = 400, .channels = 3}, 1);
  EXPECT_EQ(classifier.classify(encode_png(large.view())).status, ClassifyStatus::kBadImage);
}

TEST(Classifier, IsolatedDecodersGiveTheSame) {
  const ClassifierFiles files;
  const Classifier plain(files.weights(), {.device = "cpu"});
  const Classifier isolated(files.weights(), {.device = "cpu", .isolate = true, .decoders = 2});
  for (const std::string& path : files.paths()) {
    const Classification found = isolated.classify_file(path);
    ASSERT_TRUE(found.ok()) << found.error;
    EXPECT_EQ(found.probabilities, plain.classify_file(path).probabilities);
  }
  EXPECT_EQ(isolated.classify(std::as_bytes(std::span("no image"))).status,
            ClassifyStatus::kBadImage);
}

TEST(Classifier, RefusesWhenFullAndGivesUpAtTheDeadline) {
  const ClassifierFiles files;
  const Classifier classifier(files.weights(), {.device = "cpu", .max_batch = 1, .max_callers = 2});
  const std::vector<std::byte> photo = file_bytes(files.paths()[0]);
  EXPECT_EQ(classifier.classify(photo, std::chrono::steady_clock::now() - 1ms).status,
            ClassifyStatus::kLate);
  std::atomic<int> busy{0}, answered{0}, other{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 16; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 20; ++i) {
          switch (classifier.classify(photo).status) {
            case ClassifyStatus::kOk:
              ++answered;
              break;
            case ClassifyStatus::kBusy:
              ++busy;
              break;
            default:
              ++other;
          }
        }
      });
    }
  }
  EXPECT_EQ(other.load(), 0);
  EXPECT_EQ(busy.load() + answered.load(), 320);
  EXPECT_GT(busy.load(), 0);
  EXPECT_GT(answered.load(), 0);
  EXPECT_EQ(classifier.stats().busy, static_cast<std::uint64_t>(busy.load()));
}

TEST(Classifier, AnswersThoseThatWaitWhenItEnds) {
  const ClassifierFiles files;
  const std::vector<std::byte> photo = file_bytes(files.paths()[0]);
  auto classifier = std::make_unique<Classifier>(
      files.weights(), ClassifierOptions{.device = "cpu", .max_batch = 2});
  std::atomic<int> answered{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, which = classifier.get()] {
      if (which->classify(photo).ok()) ++answered;
    });
  }
  // All have begun, or are done.
  while (true) {
    const ClassifierStats stats = classifier->stats();
    if (stats.callers + stats.images >= 16) break;
    std::this_thread::sleep_for(100us);
  }
  classifier.reset();
  threads.clear();
  EXPECT_EQ(answered.load(), 16);
}

TEST(Classifier, RefusesOptionsAndFilesThatCannotBe) {
  const ClassifierFiles files;
  EXPECT_THROW(Classifier(files.weights(), {.max_batch = 0}), Error);
  EXPECT_THROW(Classifier(files.weights(), {.max_delay = -1us}), Error);
  EXPECT_THROW(Classifier(files.weights(), {.device = "gpu7"}), Error);
  EXPECT_THROW(Classifier(files.weights(), {.engine = "steam"}), Error);
  EXPECT_THROW(Classifier(files.weights(), {.precision = "float7"}), Error);
  EXPECT_THROW(Classifier("/nowhere/m.safetensors"), Error);
}

TEST(ClassifierC, EqualsTheClassifier) {
  const ClassifierFiles files;
  const Classifier classifier(files.weights(), {.device = "cpu"});
  stoker_classifier_options options;
  stoker_classifier_defaults(&options);
  options.device = "cpu";
  stoker_classifier* handle = stoker_classifier_create(files.weights().c_str(), &options);
  ASSERT_NE(handle, nullptr) << stoker_last_error();
  ASSERT_EQ(stoker_class_count(handle), 4U);
  EXPECT_STREQ(stoker_class_name(handle, 3), "dog");
  EXPECT_EQ(stoker_class_name(handle, 4), nullptr);
  stoker_prediction found{};
  std::vector<float> probabilities(4);
  const Classification expected = classifier.classify_file(files.paths()[2]);
  ASSERT_EQ(
      stoker_classify_file(handle, files.paths()[2].c_str(), -1, &found, probabilities.data()),
      STOKER_OK)
      << stoker_last_error();
  EXPECT_EQ(probabilities, expected.probabilities);
  EXPECT_EQ(found.best, expected.best);
  EXPECT_EQ(found.probability, expected.probability);
  EXPECT_EQ(stoker_classify_encoded(handle, "nothing", 7, -1, &found, nullptr), STOKER_BAD_IMAGE);
  EXPECT_NE(*stoker_last_error(), '\0');
  EXPECT_EQ(stoker_classify_encoded(handle, nullptr, 7, -1, &found, nullptr), STOKER_BAD_ARGUMENT);
  EXPECT_EQ(stoker_classify_file(handle, files.paths()[2].c_str(), 0, &found, nullptr),
            STOKER_LATE);
  EXPECT_EQ(stoker_classify_file(handle, files.paths()[2].c_str(), -1, nullptr, nullptr),
            STOKER_OK);
  EXPECT_STREQ(stoker_last_error(), "");
  stoker_classifier_free(handle);
  EXPECT_EQ(stoker_classifier_create("/nowhere", nullptr), nullptr);
  EXPECT_NE(*stoker_last_error(), '\0');
  EXPECT_EQ(stoker_classifier_create(nullptr, nullptr), nullptr);
  stoker_classifier_free(nullptr);
}

}  // namespace
}  // namespace stoker
