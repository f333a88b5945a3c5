// Readers that hold batches for long: the feed goes on in other memory, up to a limit.
#include <atomic>
#include <deque>
#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/data/sources/encoded_source.h"
#include "stoker/image/png.h"
#include "stoker/pipeline/feed.h"
#include "stoker/pipeline/test_sources.h"

namespace stoker {
namespace {

using test::MadeUpSource;
using HeldContent = std::vector<std::byte>;

constexpr std::size_t kMuch = std::size_t{1} << 30;

FeedOptions held_options(int workers, std::size_t held_bytes) {
  return {.workers = workers,
          .batch_size = 8,
          .epochs = 3,
          .seed = 5,
          .pixel_type = PixelType::kU8,
          .ring_batches = 4,
          .held_bytes = held_bytes};
}

HeldContent held_content(const Batch& batch) {
  return {batch.pixels().begin(), batch.pixels().end()};
}

// What each batch has to hold.
std::vector<HeldContent> contents_of_a_plain_run(const std::shared_ptr<const Source>& source) {
  std::vector<HeldContent> contents;
  Feed feed(source, Policy::parse("noise(0.1)"), held_options(1, 0));
  while (const auto batch = feed.next()) contents.push_back(held_content(*batch));
  return contents;
}

TEST(FeedHeld, AllBatchesMayBeHeldAndKeepTheirContents) {
  const auto source = std::make_shared<MadeUpSource>(100);
  const std::vector<HeldContent> expected = contents_of_a_plain_run(source);
  for (const bool isolate : {false, true}) {
    for (const int workers : {1, 2, 8}) {
      std::vector<Batch> held;
      {
        FeedOptions options = held_options(workers, kMuch);
        options.isolate = isolate;
        if (isolate) options.held_bytes = std::size_t{1} << 24;
        Feed feed(source, Policy::parse("noise(0.1)"), options);
        while (auto batch = feed.next()) held.push_back(std::move(*batch));
      }
      ASSERT_EQ(held.size(), expected.size());
      for (std::size_t i = 0; i < held.size(); ++i) {
        ASSERT_EQ(held_content(held[i]), expected[i]) << i << " of " << workers;
        EXPECT_EQ(held[i].name_of(0), fmt::format("made-up#{}", held[i].indices()[0]));
      }
    }
  }
}

TEST(FeedHeld, TheLimitIsAnErrorThatNamesTheOptionAndTheFeedGoesOnAfterIt) {
  const auto source = std::make_shared<MadeUpSource>(100);
  const std::vector<HeldContent> expected = contents_of_a_plain_run(source);
  const std::size_t block =
      BatchLayout({.image = source->shape(), .pixel_type = PixelType::kU8}, 8).bytes();
  for (const bool isolate : {false, true}) {
    FeedOptions options = held_options(2, 3 * block);
    options.isolate = isolate;
    Feed feed(source, Policy::parse("noise(0.1)"), options);
    std::deque<Batch> held;
    for (int i = 0; i < 4 + 3; ++i) held.push_back(*feed.next());
    try {
      static_cast<void>(feed.next());
      ADD_FAILURE() << "the limit is no limit";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("(held_bytes)"));
    }
    for (int i = 0; i < 2; ++i) held.pop_front();
    while (auto batch = feed.next()) {
      EXPECT_EQ(held_content(*batch), expected[batch->number()]);
      held.push_back(std::move(*batch));
      held.pop_front();
    }
    for (const Batch& batch : held) EXPECT_EQ(held_content(batch), expected[batch.number()]);
    EXPECT_EQ(held.back().number() + 1, expected.size());
  }
}

// Counts blocks: how many exist, and how many were ever made.
struct CountedMemory {
  std::atomic<int> made{0}, alive{0};

  class Block final : public BatchMemory {
   public:
    Block(CountedMemory& counts, std::size_t bytes)
        : counts_(counts), memory_(host_batch_memory(bytes)) {
      ++counts_.made, ++counts_.alive;
    }
    ~Block() override { --counts_.alive; }
    [[nodiscard]] std::span<std::byte> bytes() noexcept override { return memory_->bytes(); }

   private:
    CountedMemory& counts_;
    std::unique_ptr<BatchMemory> memory_;
  };
  [[nodiscard]] MakeBatchMemory maker() {
    return [this](std::size_t bytes) { return std::make_unique<Block>(*this, bytes); };
  }
};

TEST(FeedHeld, AReaderThatDropsItsBatchesTakesNoFurtherMemory) {
  CountedMemory counts;
  FeedOptions options = held_options(2, kMuch);
  options.make_memory = counts.maker();
  options.epochs = 50;
  Feed feed(std::make_shared<MadeUpSource>(100), Policy::parse("noise(0.1)"), options);
  std::optional<Batch>
      last;  // as in a loop of Python: the last one goes when the next one is there
  while (auto batch = feed.next()) last = std::move(batch);
  EXPECT_EQ(counts.made, 1);
}

TEST(FeedHeld, ThatManyAtATimeTakeThatMuchMemoryAndNoMore) {
  CountedMemory counts;
  {
    FeedOptions options = held_options(2, kMuch);
    options.make_memory = counts.maker();
    options.epochs = 50;
    Feed feed(std::make_shared<MadeUpSource>(100), Policy::parse("noise(0.1)"), options);
    std::deque<Batch> held;
    while (auto batch = feed.next()) {
      held.push_back(std::move(*batch));
      if (held.size() > 10) held.pop_front();
    }
    EXPECT_LE(counts.made, 1 + 11);
  }
  EXPECT_EQ(counts.alive, 0);
}

TEST(FeedHeld, MemoryOfManyHeldBatchesIsGivenBack) {
  CountedMemory counts;
  FeedOptions options = held_options(2, kMuch);
  options.make_memory = counts.maker();
  options.epochs = 10;
  Feed feed(std::make_shared<MadeUpSource>(100), Policy::parse("noise(0.1)"), options);
  std::vector<Batch> held;
  for (int i = 0; i < 100; ++i) held.push_back(*feed.next());
  EXPECT_GE(counts.alive, 90);
  held.clear();
  EXPECT_LE(counts.alive, 1 + 2 * 4);
}

TEST(FeedHeld, BatchesAreDroppedByOtherThreadsInAnyOrder) {
  const auto source = std::make_shared<MadeUpSource>(100);
  const std::vector<HeldContent> expected = contents_of_a_plain_run(source);
  for (const bool isolate : {false, true}) {
    std::mutex mutex;
    std::vector<Batch> shared;
    std::atomic<bool> ended = false;
    std::atomic<int> wrong = 0, checked = 0;
    const auto drop_some = [&](unsigned seed) {
      std::mt19937 random(seed);
      while (true) {
        std::optional<Batch> taken;
        {
          const std::lock_guard lock(mutex);
          if (shared.empty() && ended) return;
          // Some stay for long, as the feed is ahead of them.
          if (!shared.empty() && (ended || random() % 2 == 0)) {
            std::swap(shared[random() % shared.size()], shared.back());
            taken = std::move(shared.back());
            shared.pop_back();
          }
        }
        if (!taken) {
          std::this_thread::yield();
          continue;
        }
        wrong += held_content(*taken) != expected[taken->number()];
        ++checked;
      }
    };
    std::jthread first(drop_some, 1), second(drop_some, 2);
    {
      FeedOptions options = held_options(2, std::size_t{1} << 24);
      options.isolate = isolate;
      Feed feed(source, Policy::parse("noise(0.1)"), options);
      while (auto batch = feed.next()) {
        const std::lock_guard lock(mutex);
        shared.push_back(std::move(*batch));
      }
    }
    ended = true;  // after the feed: the rest outlives it
    first.join();
    second.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(static_cast<std::size_t>(checked), expected.size());
  }
}

TEST(FeedHeld, ProcessesGetBytesThatTheSourceHasInItsOwnMemory) {
  class PngInMemory final : public EncodedSource {
   public:
    PngInMemory() {
      for (std::uint64_t i = 0; i < 20; ++i) {
        SampleBuffer buffer;
        files_.push_back(encode_png(images_.read(i, buffer).value().image));
      }
    }
    [[nodiscard]] std::uint64_t size() const override { return files_.size(); }
    [[nodiscard]] const std::vector<std::string>& class_names() const override {
      return images_.class_names();
    }
    [[nodiscard]] std::string sample_name(std::uint64_t index) const override {
      return images_.sample_name(index);
    }
    [[nodiscard]] Result<std::int64_t> label(std::uint64_t index, SampleBuffer&) const override {
      return static_cast<std::int64_t>(index % 2);
    }
    [[nodiscard]] Result<std::span<const std::byte>> read_bytes(std::uint64_t index,
                                                                const MakeRoom&) const override {
      return std::span<const std::byte>(files_[index]);
    }

   private:
    MadeUpSource images_{20};
    std::vector<std::vector<std::byte>> files_;
  };
  const auto source = std::make_shared<PngInMemory>();
  const auto read_all = [&](bool isolate) {
    FeedOptions options = held_options(2, kMuch >> 6);
    options.isolate = isolate;
    Feed feed(source, Policy{}, options);
    std::vector<HeldContent> contents;
    while (const auto batch = feed.next()) {
      EXPECT_EQ(batch->labels()[0], static_cast<std::int64_t>(batch->indices()[0] % 2));
      contents.push_back(held_content(*batch));
    }
    return contents;
  };
  EXPECT_EQ(read_all(true), read_all(false));
}

TEST(FeedHeld, WaitingForABatchHasALimit) {
  class SlowSource final : public Source {
   public:
    [[nodiscard]] std::uint64_t size() const override { return 1; }
    [[nodiscard]] ImageShape shape() const override { return images_.shape(); }
    [[nodiscard]] const std::vector<std::string>& class_names() const override {
      return images_.class_names();
    }
    [[nodiscard]] std::string sample_name(std::uint64_t index) const override {
      return images_.sample_name(index);
    }
    [[nodiscard]] Result<Sample> read(std::uint64_t index, SampleBuffer& buffer) const override {
      while (!open) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return images_.read(index, buffer);
    }
    std::atomic<bool> open = false;

   private:
    MadeUpSource images_{1};
  };
  const auto source = std::make_shared<SlowSource>();
  Feed feed(source, Policy{}, {.workers = 1, .batch_size = 1});
  EXPECT_FALSE(feed.wait_for(std::chrono::milliseconds(5)));
  EXPECT_FALSE(feed.wait_for(std::chrono::milliseconds(0)));
  source->open = true;
  EXPECT_TRUE(feed.wait_for(std::chrono::minutes(1)));
  EXPECT_TRUE(feed.next());
  EXPECT_TRUE(feed.wait_for(std::chrono::minutes(1))) << "the end is known at once";
  EXPECT_FALSE(feed.next());
}

TEST(FeedHeld, ChannelsMayComeLast) {
  const auto source =
      std::make_shared<MadeUpSource>(8, ImageShape{.height = 5, .width = 7, .channels = 3});
  const auto first_batch = [&](bool last) {
    Feed feed(source, Policy::parse("hflip(0.5)"),
              {.workers = 1, .batch_size = 8, .channels_last = last});
    const auto batch = feed.next();
    const auto& shape = batch->layout().fields()[0].shape;
    EXPECT_EQ(shape,
              last ? (std::vector<std::int64_t>{5, 7, 3}) : (std::vector<std::int64_t>{3, 5, 7}));
    return std::vector<float>(batch->pixels_f32().begin(), batch->pixels_f32().end());
  };
  const std::vector<float> planes = first_batch(false), last = first_batch(true);
  ASSERT_EQ(planes.size(), 8U * 3 * 35);
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const std::size_t sample = i / 105, channel = i / 35 % 3, pixel = i % 35;
    ASSERT_EQ(planes[i], last[sample * 105 + pixel * 3 + channel]);
  }
}

}  // namespace
}  // namespace stoker
