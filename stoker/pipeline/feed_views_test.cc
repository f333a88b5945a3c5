// Several views of a sample, and the fields of a source in a batch.
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/data/sources/folder_source.h"
#include "stoker/data/sources/selection.h"
#include "stoker/image/jpeg.h"
#include "stoker/image/png.h"
#include "stoker/pipeline/feed.h"
#include "stoker/pipeline/test_sources.h"

namespace stoker {
namespace {

using test::MadeUpSource;
using testing::HasSubstr;

constexpr const char* kViewPolicy = "rotate(-15,15),shift(-2,2),noise(0.1)";
constexpr const char* kCropPolicy = "random_resized_crop(48),hflip(0.5),noise(0.05)";

// The pixels of one view of every sample, in the source's order.
std::vector<std::byte> view_of_all(const std::shared_ptr<const Source>& source, const char* policy,
                                   FeedOptions options, std::uint32_t view) {
  std::vector<std::byte> pixels;
  options.shuffle = false;
  Feed feed(source, Policy::parse(policy), options);
  while (const auto batch = feed.next()) {
    for (std::uint32_t slot = 0; slot < batch->size(); ++slot) {
      const auto one = batch->pixels_of(slot, view);
      pixels.insert(pixels.end(), one.begin(), one.end());
    }
  }
  return pixels;
}

// What a feed gives that makes this view alone: by the view's own key.
std::vector<std::byte> view_alone(const std::shared_ptr<const Source>& source, const char* policy,
                                  FeedOptions options, std::uint32_t view) {
  options.views = 1;
  options.seed = view_key({.seed = options.seed}, view).seed;
  return view_of_all(source, policy, options, 0);
}

void expect_views_of_their_keys(const std::shared_ptr<const Source>& source, const char* policy,
                                FeedOptions options) {
  for (const std::uint32_t views : {1U, 2U, 5U}) {
    for (std::uint32_t view = 0; view < views; ++view) {
      const auto expected = view_alone(source, policy, options, view);
      for (const int workers : {1, 3}) {
        options.views = views;
        options.workers = workers;
        ASSERT_EQ(view_of_all(source, policy, options, view), expected)
            << view << " of " << views << ", " << workers << " workers";
      }
    }
  }
}

TEST(Views, EachIsTheViewOfItsOwnKeyAlone) {
  const auto source = std::make_shared<MadeUpSource>(101);
  expect_views_of_their_keys(source, kViewPolicy, {.batch_size = 16, .seed = 5});
  expect_views_of_their_keys(source, kViewPolicy,
                             {.batch_size = 16, .seed = 5, .pixel_type = PixelType::kU8});
}

TEST(Views, DifferFromEachOther) {
  const auto source = std::make_shared<MadeUpSource>(20);
  const FeedOptions options{.workers = 2, .batch_size = 16, .views = 2, .seed = 5};
  EXPECT_NE(view_of_all(source, kViewPolicy, options, 0),
            view_of_all(source, kViewPolicy, options, 1));
}

// Files of several kinds, sizes that are decoded at 1/2 and 1/4, and one that is damaged below.
class FolderViews : public testing::Test {
 protected:
  FolderViews() {
    ImageListing listing{.root = folder_.path(), .class_names = {"a"}, .images = {}, .ignored = {}};
    int number = 0;
    for (const auto& [height, width] : {std::pair{61, 80}, {240, 333}, {500, 410}, {97, 640}}) {
      Image image({height, width, 3});
      Rng rng({.seed = 1, .sample = static_cast<std::uint64_t>(number)}, 0);
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < 3 * width; ++x) {
          image.view().row(y)[x] =
              static_cast<std::uint8_t>((x * 7 + y * 5) / 9 + rng.next_u32() % 40);
        }
      }
      add(listing, ++number, encode_jpeg(image.view(), 85), ".jpg");
      add(listing, ++number, encode_png(image.view()), ".png");
    }
    source_ = std::make_shared<FolderSource>(listing);
  }

  void add(ImageListing& listing, int number, const std::vector<std::byte>& bytes,
           const char* extension) {
    const std::string name = fmt::format("{}{}", number, extension);
    const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
    folder_.write(name, Bytes(first, first + bytes.size()));
    listing.images.push_back({.path = name, .label = 0});
  }

  TempFolder folder_;
  std::shared_ptr<const Source> source_;
};

TEST_F(FolderViews, ShareOneDecodingWithoutAnyDifference) {
  for (const bool exact : {true, false}) {
    FeedOptions options{.batch_size = 3, .framing = {.exact_decode = exact}};
    for (options.seed = 0; options.seed < 8; ++options.seed) {
      expect_views_of_their_keys(source_, kCropPolicy, options);
    }
  }
}

TEST_F(FolderViews, AreTheSameFromIsolatedProcesses) {
  const FeedOptions options{.workers = 2, .batch_size = 3, .views = 3, .seed = 4, .isolate = true};
  for (std::uint32_t view = 0; view < 3; ++view) {
    FeedOptions alone = options;
    alone.isolate = false;
    EXPECT_EQ(view_of_all(source_, kCropPolicy, options, view),
              view_alone(source_, kCropPolicy, alone, view));
  }
}

// Damage that only one view's part reaches costs that view's sample, as it would alone; the other
// view alone is whole.
TEST_F(FolderViews, DamageBelowTheOwnPartCostsNothing) {
  Image image({400, 64, 3});
  auto bytes = encode_jpeg(image.view(), 90);
  bytes.resize(bytes.size() * 9 / 10);
  bytes.push_back(std::byte{0xFF});
  bytes.push_back(std::byte{0xD9});
  ImageListing listing{.root = folder_.path(), .class_names = {"a"}, .images = {}, .ignored = {}};
  add(listing, 100, bytes, ".jpg");
  const auto source = std::make_shared<FolderSource>(listing);
  SampleBuffer buffer;
  const Policy policy = Policy::parse("random_resized_crop(32)");
  int whole = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const SampleKey key{.seed = seed};
    const std::vector<SampleKey> later = {view_key(key, 1)};
    FrameRequest request{.framing = policy.framing(), .key = key};
    const bool alone = source->read_framed(0, request, buffer).has_value();
    request.later = later;
    ASSERT_EQ(source->read_framed(0, request, buffer).has_value(), alone) << seed;
    whole += alone ? 1 : 0;
  }
  EXPECT_GT(whole, 0);
  EXPECT_LT(whole, 40);
}

TEST(Views, ImpossibleNumbersAreRefused) {
  const auto source = std::make_shared<MadeUpSource>(4);
  for (const std::uint32_t views : {0U, 65U}) {
    const FeedOptions options{.batch_size = 2, .views = views};
    EXPECT_THAT(error_of([&] { const Feed feed(source, Policy(), options); }).what,
                HasSubstr("views"));
  }
}

// Two fields, whose numbers follow from the sample's index.
class WithFields final : public Source {
 public:
  [[nodiscard]] std::uint64_t size() const override { return 50; }
  [[nodiscard]] ImageShape shape() const override { return images_.shape(); }
  [[nodiscard]] const std::vector<std::string>& class_names() const override { return none_; }
  [[nodiscard]] std::string sample_name(std::uint64_t index) const override {
    return images_.sample_name(index);
  }
  [[nodiscard]] Result<Sample> read(std::uint64_t index, SampleBuffer& buffer) const override {
    return images_.read(index, buffer);
  }
  [[nodiscard]] std::span<const FieldInfo> fields() const override { return fields_; }
  [[nodiscard]] Result<std::size_t> read_fields(std::uint64_t index,
                                                std::span<float> out) const override {
    if (index == unreadable) return ErrorDetails{.what = "no numbers"};
    const auto number = static_cast<float>(index);
    out[0] = number;
    out[1] = -number;
    out[2] = number / 8;
    return out.size();
  }
  std::uint64_t unreadable = ~std::uint64_t{0};

 private:
  MadeUpSource images_{50};
  std::vector<std::string> none_;
  std::vector<FieldInfo> fields_ = {{.name = "target", .values = {"x", "y"}},
                                    {.name = "weight", .values = {"weight"}}};
};

TEST(Fields, StandInTheBatchBesideTheirSample) {
  for (const bool isolate : {false, true}) {
    const auto source = std::make_shared<WithFields>();
    Feed feed(source, Policy::parse(kViewPolicy),
              {.workers = 3, .batch_size = 16, .seed = 3, .isolate = isolate});
    std::size_t samples = 0;
    while (const auto batch = feed.next()) {
      const auto targets = batch->numbers("target"), weights = batch->numbers(kWeightField);
      ASSERT_EQ(targets.size(), 2 * batch->size());
      for (std::uint32_t slot = 0; slot < batch->size(); ++slot, ++samples) {
        const auto number = static_cast<float>(batch->indices()[slot]);
        EXPECT_EQ(targets[2 * slot], number);
        EXPECT_EQ(targets[2 * slot + 1], -number);
        EXPECT_EQ(weights[slot], number / 8);
        EXPECT_EQ(batch->name_of(slot), fmt::format("made-up#{}", batch->indices()[slot]));
        EXPECT_EQ(batch->position_of(slot), samples);
      }
    }
    EXPECT_EQ(samples, 50U);
  }
}

TEST(Fields, OfAViewAreThoseOfItsSamples) {
  const auto source =
      std::make_shared<Selection>(std::make_shared<WithFields>(), std::vector<std::uint64_t>{7, 3});
  Feed feed(source, Policy(), {.workers = 1, .batch_size = 2, .shuffle = false});
  const auto batch = feed.next();
  EXPECT_THAT(batch->numbers("target"), testing::ElementsAre(7, -7, 3, -3));
}

TEST(Fields, ThatCannotBeReadAreAFaultOfTheSample) {
  const auto source = std::make_shared<WithFields>();
  source->unreadable = 20;
  Feed feed(source, Policy(), {.workers = 2, .batch_size = 50, .on_error = OnError::kOmit});
  const auto batch = feed.next();
  ASSERT_EQ(feed.faults().size(), 1U);
  EXPECT_EQ(feed.faults()[0].index, 20U);
  EXPECT_THAT(feed.faults()[0].reason, HasSubstr("no numbers"));
}

TEST(Fields, LayoutDescribesTheBlock) {
  const BatchLayout layout({.image = {.height = 4, .width = 6, .channels = 3},
                            .pixel_type = PixelType::kF32,
                            .views = 2,
                            .numbers = {{.name = "classes", .values = {"a", "b", "c"}}}},
                           10);
  ASSERT_EQ(layout.fields().size(), 4U);
  EXPECT_THAT(layout.field("image").shape, testing::ElementsAre(2, 3, 4, 6));
  EXPECT_EQ(layout.field("image").bytes_per_sample, 2 * 3 * 4 * 6 * sizeof(float));
  EXPECT_EQ(layout.field("label").offset, 10 * 2 * 3 * 4 * 6 * sizeof(float));
  EXPECT_THAT(layout.field("classes").shape, testing::ElementsAre(3));
  EXPECT_EQ(layout.bytes(), layout.field("classes").offset + 128);
  EXPECT_THAT(error_of([&] { (void)layout.field("names"); }).expected,
              HasSubstr("image, label, index, classes"));
}

TEST(Fields, ALayoutLargerThanAllAddressesIsRefused) {
  const BatchContents contents{.image = {.height = kMaxSide, .width = kMaxSide, .channels = 3},
                               .views = 64};
  EXPECT_THAT(message_of([&] { const BatchLayout layout(contents, 1U << 24); }),
              HasSubstr("too large for this machine's addresses"));
}

TEST(Fields, OfEveryBatchHaveFunctionsOfTheirOwn) {
  Feed feed(std::make_shared<WithFields>(), Policy(), {.workers = 1, .batch_size = 2});
  const auto batch = feed.next();
  ASSERT_TRUE(batch);
  for (const char* field : {"image", "label", "index"}) {
    EXPECT_THAT(message_of([&] { (void)batch->numbers(field); }),
                HasSubstr("has a function of its own"))
        << field;
  }
}

}  // namespace
}  // namespace stoker
