#include "stoker/train/checkpointing.h"

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"
#include "stoker/train/test_runs.h"

namespace stoker {
namespace {

// Saves as it goes, like a real run.
class Saver final : public Observer {
 public:
  explicit Saver(Checkpointing& checkpoints) : checkpoints_(checkpoints) {}
  void state_settled(const State& state, bool epoch_ended) override {
    if (checkpoints_.is_due(state, epoch_ended)) checkpoints_.save(state);
  }

 private:
  Checkpointing& checkpoints_;
};

constexpr CheckpointInterval kFiveSteps = {5, IntervalUnit::kSteps};

State run_and_save(const std::filesystem::path& folder, const TrainOptions& options,
                   const CheckpointInterval& interval = kFiveSteps) {
  State state = test::new_state("cnn:4,8", {.kind = OptimiserKind::kAdamW});
  Checkpointing checkpoints(folder, interval, 3, "a: 1\nb: 2\n");
  Saver saver(checkpoints);
  EXPECT_EQ(Trainer(state, test::made_up_data(), options, saver).run(), RunEnd::kAllEpochs);
  return state;
}

Checkpointing::Restored resumed(const std::filesystem::path& folder, const TrainOptions& options,
                                State& state) {
  Checkpointing checkpoints(folder, kFiveSteps, 3, "a: 1\nb: 2\n");
  const auto restored = checkpoints.restore(state);
  Observer observer;
  Trainer(state, test::made_up_data(), options, observer).run();
  return restored;
}

TEST(Checkpointing, InTheBackgroundWritesTheSameFiles) {
  const TempFolder folder, other;
  const TrainOptions options = test::small_options();
  static_cast<void>(run_and_save(folder.path(), options));
  State state = test::new_state("cnn:4,8", {.kind = OptimiserKind::kAdamW});
  Checkpointing checkpoints(other.path(), kFiveSteps, 3, "a: 1\nb: 2\n");
  checkpoints.write_in_background();
  Saver saver(checkpoints);
  EXPECT_EQ(Trainer(state, test::made_up_data(), options, saver).run(), RunEnd::kAllEpochs);
  checkpoints.wait();
  EXPECT_EQ(checkpoints.times().checkpoints, 7U);
  const auto files = CheckpointFolder(folder.path(), 3).files();
  ASSERT_EQ(files.size(), 3U);
  for (const auto& file : files) {
    EXPECT_EQ(contents_of(file), contents_of(other.path() / file.filename())) << file;
  }
}

// The state changes while its file is not begun yet.
TEST(Checkpointing, InTheBackgroundWritesTheStateOfTheCall) {
  const TempFolder folder;
  State state = test::new_state();
  const State before = test::new_state();
  Checkpointing checkpoints(folder.path(), kFiveSteps, 3, "a: 1\n");
  checkpoints.write_in_background();
  std::atomic<bool> has_changed = false;
  checkpoints.save(state, [&] {
    while (!has_changed) std::this_thread::yield();
  });
  {
    const at::NoGradGuard no_grad;
    for (const NamedTensor& t : tensors_of(state)) t.tensor.detach().zero_();
  }
  state.step = 7;
  has_changed = true;
  checkpoints.wait();
  State read = test::new_state();
  static_cast<void>(checkpoints.restore(read));
  EXPECT_TRUE(test::same(read, before));
}

TEST(Checkpointing, AFailureInTheBackgroundEndsTheRunAtTheNextStep) {
  const TempFolder folder;
  State state = test::new_state();
  Checkpointing checkpoints(folder.path() / "checkpoints", kFiveSteps, 3, "a: 1\n");
  checkpoints.write_in_background();
  std::filesystem::remove(folder.path() / "checkpoints");
  class Stepwise final : public Observer {
   public:
    explicit Stepwise(Checkpointing& checkpoints) : checkpoints_(checkpoints) {}
    void state_settled(const State& state, bool /*epoch_ended*/) override {
      if (state.step == 1) {
        checkpoints_.save(state);
        std::this_thread::sleep_for(std::chrono::seconds(1));  // it has failed by then
      } else {
        checkpoints_.check();
      }
    }

   private:
    Checkpointing& checkpoints_;
  } observer(checkpoints);
  EXPECT_THROW(Trainer(state, test::made_up_data(), test::small_options(), observer).run(), Error);
  EXPECT_EQ(state.step, 2U);
  // The same state again: what failed does not count as saved.
  checkpoints.save(state);
  EXPECT_THROW(checkpoints.wait(), Error);
  std::filesystem::create_directory(folder.path() / "checkpoints");
  checkpoints.save(state);
  checkpoints.wait();
  EXPECT_EQ(CheckpointFolder(folder.path() / "checkpoints", 3).files().size(), 1U);
}

TEST(Checkpointing, ARunGoesOnFromEveryFileToTheSameEnd) {
  const TempFolder folder;
  TrainOptions options = test::small_options();
  options.schedule = {.sched = ScheduleKind::kPlateau, .lr = 0.05, .patience_epochs = 0};
  const State whole = run_and_save(folder.path(), options);
  const auto files = CheckpointFolder(folder.path(), 3).files();
  ASSERT_EQ(files.size(), 3U) << "steps 35, 30 and 25 of 39";
  for (const auto& file : files) {
    State state = test::new_state("cnn:4,8", {.kind = OptimiserKind::kAdamW});
    EXPECT_EQ(resumed(folder.path(), options, state).path, file);
    EXPECT_TRUE(test::same(whole, state)) << file;
    std::filesystem::remove(file);
  }
}

// A run that was killed in the validation of each epoch.
TEST(Checkpointing, ARunGoesOnFromBeforeAValidationToTheSameEnd) {
  class Before final : public Observer {
   public:
    explicit Before(Checkpointing& checkpoints) : checkpoints_(checkpoints) {}
    void epoch_trained(const State& state) override {
      checkpoints_.save(state);
      throw Error({.what = "killed"});
    }

   private:
    Checkpointing& checkpoints_;
  };
  const TempFolder folder, other;
  const TrainOptions options = test::small_options();
  const State whole = run_and_save(other.path(), options);
  for (std::uint32_t epoch = 0; epoch < options.feed.epochs; ++epoch) {
    State state = test::new_state("cnn:4,8", {.kind = OptimiserKind::kAdamW});
    Checkpointing checkpoints(folder.path(), kFiveSteps, 3, "a: 1\nb: 2\n");
    static_cast<void>(checkpoints.restore(state));
    EXPECT_EQ(state.awaits_validation(), epoch > 0);
    if (state.awaits_validation()) {
      Observer observer;
      Trainer(state, test::made_up_data(), options, observer, [] { return true; }).run();
      checkpoints.save(state);
    }
    EXPECT_EQ(state.epochs_done(), epoch);
    Before before(checkpoints);
    EXPECT_THROW(Trainer(state, test::made_up_data(), options, before).run(), Error);
  }
  State state = test::new_state("cnn:4,8", {.kind = OptimiserKind::kAdamW});
  resumed(folder.path(), options, state);
  EXPECT_TRUE(test::same(whole, state));
}

TEST(Checkpointing, ADamagedFileIsNamedAndTheOneBeforeTaken) {
  const TempFolder folder;
  const State whole = run_and_save(folder.path(), test::small_options());
  const auto files = CheckpointFolder(folder.path(), 3).files();
  std::filesystem::resize_file(files[0], std::filesystem::file_size(files[0]) - 1);
  State state = test::new_state("cnn:4,8", {.kind = OptimiserKind::kAdamW});
  const auto restored = resumed(folder.path(), test::small_options(), state);
  EXPECT_EQ(restored.path, files[1]);
  ASSERT_EQ(restored.damaged.size(), 1U);
  EXPECT_EQ(restored.damaged[0].path, files[0].string());
  EXPECT_TRUE(test::same(whole, state));
}

TEST(Checkpointing, NothingToGoOnFromIsNoErrorUnlessAllIsDamaged) {
  const TempFolder folder;
  State state = test::new_state();
  Checkpointing checkpoints(folder.path(), {}, 1, "");
  EXPECT_TRUE(checkpoints.restore(state).path.empty());
  folder.write("step-000000000001.safetensors", {1, 2, 3});
  folder.write("step-000000000002.safetensors", {1, 2, 3});
  const ErrorDetails error = error_of([&] { checkpoints.restore(state); });
  EXPECT_NE(error.found.find("step-000000000002"), std::string::npos) << "the newest";
  ASSERT_EQ(error.causes.size(), 2U);
  EXPECT_NE(full_message(error).find("  cause: "), std::string::npos) << "the other";
}

TEST(Checkpointing, OtherSettingsAreAnErrorThatNamesTheFirst) {
  const TempFolder folder;
  run_and_save(folder.path(), test::small_options());
  State state = test::new_state("cnn:4,8", {.kind = OptimiserKind::kAdamW});
  Checkpointing checkpoints(folder.path(), {}, 1, "a: 1\nb: 3\n");
  const ErrorDetails error = error_of([&] { checkpoints.restore(state); });
  EXPECT_NE(error.expected.find("\"b: 2\""), std::string::npos);
  EXPECT_NE(error.found.find("\"b: 3\""), std::string::npos);
}

TEST(Checkpointing, ASettingThatTheFileDoesNotKnowMustBeAtItsDefault) {
  const TempFolder folder;
  run_and_save(folder.path(), test::small_options());
  State state = test::new_state("cnn:4,8", {.kind = OptimiserKind::kAdamW});
  Checkpointing newer(folder.path(), {}, 1, "a: 1\nnew: 0\nb: 2\n");
  EXPECT_THROW(newer.restore(state), Error) << "nobody said what its default is";
  newer.set_defaults("a: 7\nnew: 0\nb: 7\n");
  EXPECT_FALSE(newer.restore(state).path.empty());
  Checkpointing changed(folder.path(), {}, 1, "a: 1\nnew: 5\nb: 2\n");
  changed.set_defaults("a: 7\nnew: 0\nb: 7\n");
  EXPECT_NE(error_of([&] { changed.restore(state); }).found.find("\"new: 5\""), std::string::npos);
  Checkpointing other(folder.path(), {}, 1, "a: 7\nb: 2\n");
  other.set_defaults("a: 7\nb: 7\n");
  EXPECT_THROW(other.restore(state), Error) << "the file knows a, with another value";
}

TEST(Checkpointing, AnotherDataOrderIsRefusedAndNoneIsThatOfTheFirstReleases) {
  const TempFolder folder;
  const State whole = run_and_save(folder.path(), test::small_options());
  const auto path = CheckpointFolder(folder.path(), 3).files().front();
  const auto rewrite = [&](const auto& change) {
    const SafetensorsFile file = read_checkpoint(path);
    SafetensorsMetadata metadata = file.metadata();
    change(metadata);
    write_checkpoint(path, file.tensors(), metadata);
  };
  rewrite([](auto& metadata) { metadata.at("stoker.data_order_version") = "99"; });
  State state = test::new_state("cnn:4,8", {.kind = OptimiserKind::kAdamW});
  Checkpointing checkpoints(folder.path(), {}, 1, "a: 1\nb: 2\n");
  const ErrorDetails error = error_of([&] { checkpoints.restore(state); });
  EXPECT_EQ(error.path, path.string());
  EXPECT_NE(error.found.find("version 99"), std::string::npos) << error.found;
  rewrite([](auto& metadata) {
    metadata.erase("stoker.data_order_version");
    metadata.erase("stoker.release");
  });
  EXPECT_EQ(resumed(folder.path(), test::small_options(), state).path, path);
  EXPECT_TRUE(test::same(whole, state));
}

TEST(Checkpointing, AnotherModelsStateIsRefused) {
  const TempFolder folder;
  run_and_save(folder.path(), test::small_options());
  State state = test::new_state("cnn:4,16", {.kind = OptimiserKind::kAdamW});
  Checkpointing checkpoints(folder.path(), {}, 1, "a: 1\nb: 2\n");
  EXPECT_THROW(checkpoints.restore(state), Error);
}

TEST(Checkpointing, EpochsAreAnIntervalToo) {
  const TempFolder folder;
  run_and_save(folder.path(), test::small_options(), {2, IntervalUnit::kEpochs});
  const auto files = CheckpointFolder(folder.path(), 3).files();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].filename(), "step-000000000026.safetensors");
}

TEST(Checkpointing, IntervalsAreReadAndWrongOnesExplained) {
  EXPECT_EQ(parse_checkpoint_interval("50steps").unit, IntervalUnit::kSteps);
  EXPECT_EQ(parse_checkpoint_interval("50steps").count, 50U);
  EXPECT_EQ(parse_checkpoint_interval("5min").unit, IntervalUnit::kMinutes);
  EXPECT_EQ(parse_checkpoint_interval("1epoch").unit, IntervalUnit::kEpochs);
  EXPECT_EQ(parse_checkpoint_interval("2epochs").count, 2U);
  for (const char* wrong : {"", "5", "steps", "0steps", "-1steps", "5 steps", "5h", "1.5epochs",
                            "99999999999999999999steps"}) {
    const ErrorDetails error =
        error_of([&] { static_cast<void>(parse_checkpoint_interval(wrong)); });
    EXPECT_NE(error.expected.find("50steps"), std::string::npos);
  }
}

}  // namespace
}  // namespace stoker
