#include "stoker/pipeline/faults.h"

#include <atomic>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "stoker/pipeline/fault_list.h"
#include "stoker/pipeline/feed.h"
#include "stoker/pipeline/test_sources.h"

namespace stoker {
namespace {

// Some samples cannot be read.
class Damaged final : public Source {
 public:
  explicit Damaged(std::set<std::uint64_t> damaged) : damaged_(std::move(damaged)) {}
  std::atomic<bool>* hangs_until = nullptr;  // sample 7 waits for it

  [[nodiscard]] std::uint64_t size() const override { return whole_.size(); }
  [[nodiscard]] ImageShape shape() const override { return whole_.shape(); }
  [[nodiscard]] const std::vector<std::string>& class_names() const override {
    return whole_.class_names();
  }
  [[nodiscard]] std::string sample_name(std::uint64_t index) const override {
    return whole_.sample_name(index);
  }
  [[nodiscard]] Result<Sample> read(std::uint64_t index, SampleBuffer& buffer) const override {
    while (index == 7 && hangs_until != nullptr && !hangs_until->load()) std::this_thread::yield();
    if (damaged_.contains(index)) return ErrorDetails{.what = "damaged, on purpose"};
    return whole_.read(index, buffer);
  }

 private:
  test::MadeUpSource whole_{100};
  std::set<std::uint64_t> damaged_;
};

struct Given {
  std::vector<std::uint64_t> indices;
  std::vector<std::uint64_t> faulty;
};

Given take_all(const std::shared_ptr<const Source>& source, int workers, std::uint64_t most = 100) {
  Feed feed(source, Policy(),
            {.workers = workers,
             .batch_size = 8,
             .epochs = 2,
             .seed = 5,
             .on_error = OnError::kSkip,
             .max_errors = most});
  Given given;
  while (const auto batch = feed.next()) {
    given.indices.insert(given.indices.end(), batch->indices().begin(), batch->indices().end());
  }
  for (const SampleFault& fault : feed.faults()) given.faulty.push_back(fault.index);
  return given;
}

TEST(Faults, ABadSampleIsReplacedByTheNextOfTheOrder) {
  const auto source = std::make_shared<Damaged>(std::set<std::uint64_t>{3, 50});
  const Given whole = take_all(std::make_shared<Damaged>(std::set<std::uint64_t>{}), 2);
  const Given given = take_all(source, 2);
  ASSERT_EQ(given.indices.size(), 200U);
  EXPECT_TRUE(whole.faulty.empty());
  EXPECT_EQ(given.faulty.size(), 4U) << "two, in both epochs";
  for (std::size_t i = 0; i < 200; ++i) {
    if (whole.indices[i] == 3 || whole.indices[i] == 50) {
      const std::size_t next = i % 100 == 99 ? i - 99 : i + 1;
      EXPECT_EQ(given.indices[i], whole.indices[next]);
    } else {
      EXPECT_EQ(given.indices[i], whole.indices[i]);
    }
  }
}

TEST(Faults, WorkersChangeNeitherTheReplacementsNorTheirOrder) {
  const auto source = std::make_shared<Damaged>(std::set<std::uint64_t>{1, 2, 3, 4, 60, 61, 62});
  const Given one = take_all(source, 1);
  for (const int workers : {2, 8}) {
    const Given many = take_all(source, workers);
    EXPECT_EQ(many.indices, one.indices);
    EXPECT_EQ(many.faulty, one.faulty);
  }
}

TEST(Faults, TooManyEndTheRunAndAreListed) {
  const auto source = std::make_shared<Damaged>(std::set<std::uint64_t>{1, 2, 3});
  EXPECT_NO_THROW(take_all(source, 2, 3));
  try {
    take_all(source, 2, 2);
    FAIL() << "three bad samples where two are allowed";
  } catch (const TooManyFaults& error) {
    std::set<std::uint64_t> different;
    for (const SampleFault& fault : error.faults()) different.insert(fault.index);
    EXPECT_EQ(different.size(), 3U);
    EXPECT_NE(std::string(error.what()).find("damaged, on purpose"), std::string::npos);
  }
}

TEST(Faults, NothingButBadSamplesIsAnErrorNotALoop) {
  std::set<std::uint64_t> all;
  for (std::uint64_t i = 0; i < 100; ++i) all.insert(i);
  EXPECT_THROW(take_all(std::make_shared<Damaged>(all), 2, 1000), SampleError);
}

TEST(Faults, AnOmittedSampleLeavesItsPlaceEmpty) {
  std::set<std::uint64_t> all;
  for (std::uint64_t i = 0; i < 100; ++i) all.insert(i);
  for (const std::set<std::uint64_t>& bad : {std::set<std::uint64_t>{3, 50}, all}) {
    Feed feed(std::make_shared<Damaged>(bad), Policy(),
              {.workers = 2, .batch_size = 8, .shuffle = false, .on_error = OnError::kOmit});
    std::uint64_t index = 0;
    while (const auto batch = feed.next()) {
      for (std::size_t i = 0; i < batch->indices().size(); ++i, ++index) {
        EXPECT_EQ(batch->indices()[i], index);
        EXPECT_EQ(batch->labels()[i] == -1, bad.contains(index));
      }
    }
    EXPECT_EQ(index, 100U);
    std::set<std::uint64_t> faulty;
    for (const SampleFault& fault : feed.faults()) faulty.insert(fault.index);
    EXPECT_EQ(faulty, bad);
  }
}

TEST(Faults, AreWrittenAsCsv) {
  EXPECT_EQ(faults_as_csv({{.index = 1, .name = "a,\"b\".jpg", .reason = "cut", .place = {0, 7}}}),
            "sample,reason,epoch,position\n\"a,\"\"b\"\".jpg\",\"cut\",1,7\n");
}

TEST(Faults, NamesInTheCsvCannotCommandATerminal) {
  EXPECT_EQ(faults_as_csv({{.name = "\x1b]0;x\x07.jpg", .reason = "a\x9b", .place = {0, 7}}}),
            "sample,reason,epoch,position\n\"\\x1b]0;x\\x07.jpg\",\"a\\x9b\",1,7\n");
}

TEST(Watchdog, NamesTheSampleThatAWorkerIsStuckIn) {
  std::atomic<bool> go{false};
  auto source = std::make_shared<Damaged>(std::set<std::uint64_t>{});
  source->hangs_until = &go;
  std::atomic<int> told{0};
  std::string name;
  Feed feed(source, Policy(),
            {.workers = 2,
             .batch_size = 8,
             .seed = 5,
             .stall_limit = std::chrono::milliseconds(40),
             .on_stall = [&](const std::string& sample, double seconds) {
               EXPECT_GE(seconds, 0.04);
               name = sample;
               ++told;
               go = true;
             }});
  while (feed.next()) {
  }
  EXPECT_EQ(told, 1);
  EXPECT_EQ(name, "made-up#7");
}

}  // namespace
}  // namespace stoker
