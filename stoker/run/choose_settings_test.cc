#include "stoker/run/choose_settings.h"

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"

namespace stoker {
namespace {

// Images of one shape, or of any where there is none.
class Shaped : public Source {
 public:
  explicit Shaped(std::optional<ImageShape> shape) : shape_(shape) {}
  [[nodiscard]] std::uint64_t size() const override { return 1; }
  [[nodiscard]] ImageShape shape() const override {
    if (shape_) return *shape_;
    throw Error({.what = "images differ"});
  }
  [[nodiscard]] const std::vector<std::string>& class_names() const override { return names_; }
  [[nodiscard]] std::string sample_name(std::uint64_t) const override { return ""; }
  [[nodiscard]] Result<Sample> read(std::uint64_t, SampleBuffer&) const override {
    return ErrorDetails{.what = "nothing to read"};
  }

 private:
  std::optional<ImageShape> shape_;
  std::vector<std::string> names_ = {"a", "b"};
};

TrainingParts parts_of(std::optional<ImageShape> shape) {
  const auto source = std::make_shared<Shaped>(shape);
  return {.train = source, .validation = source};
}

constexpr ImageShape kDigit{.height = 28, .width = 28, .channels = 1};

TEST(ChooseSettings, ANetworkAndARecipeForTheData) {
  RunSettings small, photographs;
  GivenSettings given;
  EXPECT_EQ(choose_settings(small, given, parts_of(kDigit)).size(), 2u);
  EXPECT_EQ(small.model, "cnn:small");
  EXPECT_EQ(small.recipe, "small-images");
  EXPECT_EQ(small.train.schedule.lr, 0.002);
  EXPECT_EQ(small.image_size, 0u);
  given.clear();
  static_cast<void>(choose_settings(photographs, given, parts_of({})));
  EXPECT_EQ(photographs.model, "resnet18");
  EXPECT_EQ(photographs.recipe, "from-scratch");
}

TEST(ChooseSettings, WhatIsGivenStays) {
  RunSettings run;
  run.train.feed.epochs = 3;
  run.policy = "none";
  GivenSettings given = {"epochs", "aa"};
  static_cast<void>(choose_settings(run, given, parts_of(kDigit)));
  EXPECT_EQ(run.train.feed.epochs, 3u);
  EXPECT_EQ(run.policy, "none");
  RunSettings whole;
  whole.model = "mlp:784,16,10";
  given = {"model"};
  EXPECT_TRUE(choose_settings(whole, given, parts_of(kDigit)).empty());
  EXPECT_EQ(whole.recipe, "");
  EXPECT_EQ(whole.train.schedule.lr, 0.1);
}

// Else the model file would describe images of two sizes.
TEST(ChooseSettings, ValidationOfARecipeHasTheSizeOfTraining) {
  RunSettings run;
  run.policy = "random_resized_crop(64,0.3),hflip";
  GivenSettings given = {"aa"};
  static_cast<void>(choose_settings(run, given, parts_of({})));
  EXPECT_EQ(run.recipe, "from-scratch");
  EXPECT_EQ(run.validation_policy, "resize_crop(73,64)");
  RunSettings chosen;
  chosen.policy = run.policy;
  chosen.validation_policy = "resize_crop(80,72)";
  given = {"aa", "val-aa"};
  static_cast<void>(choose_settings(chosen, given, parts_of({})));
  EXPECT_EQ(chosen.validation_policy, "resize_crop(80,72)");
}

TEST(ChooseSettings, TheWarmUpOfARecipeFitsAShortRun) {
  RunSettings run, longer;
  run.train.feed.epochs = 1;
  GivenSettings given = {"epochs"};
  static_cast<void>(choose_settings(run, given, parts_of({})));
  EXPECT_EQ(run.train.schedule.warmup_epochs, 0.1);
  longer.train.feed.epochs = 6;
  given = {"epochs"};
  static_cast<void>(choose_settings(longer, given, parts_of({})));
  EXPECT_EQ(longer.train.schedule.warmup_epochs, 5);
}

TEST(ChooseSettings, TheRateFollowsFromTheOptimiser) {
  RunSettings run;
  run.model = "mlp:784,16,10";
  run.optimiser.kind = OptimiserKind::kAdamW;
  GivenSettings given;
  EXPECT_EQ(choose_settings(run, given, parts_of(kDigit)).size(), 1u);
  EXPECT_EQ(run.train.schedule.lr, 0.001);
  run.train.schedule.lr = 0.1;
  given = {"lr"};
  EXPECT_TRUE(choose_settings(run, given, parts_of(kDigit)).empty());
  EXPECT_EQ(run.train.schedule.lr, 0.1);
}

TEST(ChooseSettings, LionHasARateAndABetaOfItsOwn) {
  RunSettings run;
  run.model = "mlp:784,16,10";
  run.optimiser.kind = OptimiserKind::kLion;
  GivenSettings given;
  static_cast<void>(choose_settings(run, given, parts_of(kDigit)));
  EXPECT_EQ(run.train.schedule.lr, 0.0001);
  EXPECT_EQ(run.optimiser.beta2, 0.99);
  run.optimiser.beta2 = 0.5;
  given = {"beta2"};
  static_cast<void>(choose_settings(run, given, parts_of(kDigit)));
  EXPECT_EQ(run.optimiser.beta2, 0.5);
}

TEST(ChooseSettings, ImagesThatDifferGetASize) {
  RunSettings run;
  run.model = "resnet18";
  run.policy = "hflip(0.5)";
  GivenSettings given;
  static_cast<void>(choose_settings(run, given, parts_of({})));
  EXPECT_EQ(run.image_size, 224u);
  EXPECT_EQ(run.policy, "random_resized_crop(224),hflip(0.5)");
  EXPECT_EQ(run.resolved_validation_policy().text(), "resize_crop(256,224)");
  // A second time, as when it is resumed: the same, to the letter.
  const std::string before = run.policy;
  static_cast<void>(choose_settings(run, given, parts_of({})));
  EXPECT_EQ(run.policy, before);
}

TEST(ValidationPolicy, FramesAsTrainingDoes) {
  RunSettings run;
  const auto of = [&](const char* policy) {
    run.policy = policy;
    return run.resolved_validation_policy().text();
  };
  EXPECT_EQ(of("noise(0.1)"), "");
  EXPECT_EQ(of("resize(24,24),noise(0.1)"), "resize(24,24)");
  EXPECT_EQ(of("resize_crop(32,24),hflip(0.5)"), "resize_crop(32,24)");
  EXPECT_EQ(of("random_resized_crop(224),hflip(0.5)"), "resize_crop(256,224)");
}

TEST(PolicyOfSize, ChangesOrAddsTheFirstOperation) {
  const auto width = [](const std::string& policy) {
    return Policy::parse(policy).framing()->output_width();
  };
  for (const char* policy : {"none", "imagenet-train", "imagenet-eval", "plates-eval",
                             "random_resized_crop(224,0.5,1),noise(0.1)", "mnist"}) {
    EXPECT_EQ(width(policy_of_size(policy, 96, true)), 96) << policy;
    EXPECT_EQ(width(policy_of_size(policy, 96, false)), 96) << policy;
  }
  EXPECT_EQ(policy_of_size("imagenet-eval", 112, true), "resize_crop(128,112)");
  EXPECT_EQ(policy_of_size("resize_crop(64,32,3),invert(1)", 16, true),
            "resize_crop(32,16,3),invert(1)");
  EXPECT_EQ(policy_of_size("resize(64,32,1)", 16, true), "resize(16,16,1)");
  EXPECT_EQ(policy_of_size("none", 32, false), "resize(32,32)");
  EXPECT_EQ(policy_of_size("random_resized_crop(32)", 32, true), "random_resized_crop(32)");
}

}  // namespace
}  // namespace stoker
