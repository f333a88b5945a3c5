// One test for each line of the specification about transfer learning, named after it. (Against
// PyTorch running the document's code: tests/plates_test.py.)
#include <cmath>
#include <set>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/data/sources/folder_source.h"
#include "stoker/data/split.h"
#include "stoker/kernels/resize/resize.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/run/recipes.h"
#include "stoker/run/run_settings.h"
#include "stoker/train/trainer.h"

namespace stoker {
namespace {

constexpr ChannelNumbers kMean = {0.485, 0.456, 0.406, 0};
constexpr ChannelNumbers kDeviation = {0.229, 0.224, 0.225, 1};

std::filesystem::path plates() { return test_data() / "plates" / "train"; }

struct PlateParts {
  std::shared_ptr<const Source> train, validation;
};

PlateParts plate_parts() {
  SplitParts parts = split_listing(list_images(plates()), {.every = 6});
  return {std::make_shared<FolderSource>(std::move(parts.train)),
          std::make_shared<FolderSource>(std::move(parts.validation))};
}

// One image of 256x256 whose red is the column and whose green is the row.
class Coordinates final : public Source {
 public:
  Coordinates() : image_({.height = 256, .width = 256, .channels = 3}) {
    for (int y = 0; y < 256; ++y) {
      for (int x = 0; x < 256; ++x) {
        std::uint8_t* pixel = image_.view().row(y) + 3 * x;
        pixel[0] = static_cast<std::uint8_t>(x);
        pixel[1] = static_cast<std::uint8_t>(y);
        pixel[2] = 0;
      }
    }
  }
  [[nodiscard]] std::uint64_t size() const override { return 400; }
  [[nodiscard]] ImageShape shape() const override { return image_.view().shape; }
  [[nodiscard]] const std::vector<std::string>& class_names() const override { return names_; }
  [[nodiscard]] std::string sample_name(std::uint64_t index) const override {
    return std::to_string(index);
  }
  [[nodiscard]] Result<Sample> read(std::uint64_t /*index*/,
                                    SampleBuffer& /*buffer*/) const override {
    return Sample{.image = std::as_const(image_).view(), .label = 0};
  }

 private:
  Image image_;
  std::vector<std::string> names_ = {"all"};
};

// Training: random resized crop to 224 (a fraction of 0.08 to 1 of the area, aspect 3/4 to 4/3),
// horizontal flip with probability 0.5. Validation: all of the image, resized to 224x224. Both:
// values 0 to 1, then ImageNet's mean and standard deviation.
TEST(Spec, R24_TransformsOfTrainingAndValidation) {
  Feed feed(std::make_shared<Coordinates>(), Policy::parse("plates"),
            {.workers = 2, .batch_size = 16, .seed = 1, .pixel_type = PixelType::kU8});
  EXPECT_EQ(feed.image_shape(), (ImageShape{224, 224, 3}));
  int flipped = 0, images = 0;
  double smallest = 1, largest = 0;
  while (const auto batch = feed.next()) {
    for (std::uint32_t slot = 0; slot < batch->size(); ++slot, ++images) {
      const auto* pixels = reinterpret_cast<const std::uint8_t*>(batch->pixels_of(slot).data());
      const auto value = [&](int y, int x, int c) { return int{pixels[(y * 224 + x) * 3 + c]}; };
      const int across = value(112, 223, 0) - value(112, 0, 0);
      const double width = (std::abs(across) + 1) / 256.0;
      const double height = (value(223, 112, 1) - value(0, 112, 1) + 1) / 256.0;
      flipped += across < 0 ? 1 : 0;
      smallest = std::min(smallest, width * height);
      largest = std::max(largest, width * height);
      ASSERT_GT(width / height, 0.73);
      ASSERT_LT(width / height, 1.37);
    }
  }
  EXPECT_EQ(images, 400);
  EXPECT_NEAR(flipped, 200, 40) << "a fair coin is further off once in 20,000 seeds";
  EXPECT_GT(smallest, 0.07);
  EXPECT_LT(smallest, 0.15);
  EXPECT_GT(largest, 0.9);
  EXPECT_LE(largest, 1.0);

  STOKER_NEEDS(plates());
  const auto validation = plate_parts().validation;
  Feed judged(validation, Policy::parse("plates-eval"),
              {.workers = 1,
               .batch_size = 8,
               .shuffle = false,
               .normalisation = from_mean_and_deviation(kMean, kDeviation)});
  const auto batch = judged.next();
  ASSERT_TRUE(batch && batch->size() == 8);
  SampleBuffer buffer;
  const Sample whole = validation->read(0, buffer).value();
  Image resized({.height = 224, .width = 224, .channels = 3});
  resize_reference(resized.view(), whole.image, whole_image(whole.image.shape), {});
  const auto* floats = reinterpret_cast<const float*>(batch->pixels_of(0).data());
  for (int c = 0; c < 3; ++c) {
    for (int i = 0; i < 224 * 224; ++i) {
      const double value = std::as_const(resized).view().at(i / 224, i % 224, c) / 255.0;
      const auto channel = static_cast<std::size_t>(c);
      ASSERT_NEAR(floats[c * 224 * 224 + i], (value - kMean[channel]) / kDeviation[channel], 1e-5);
    }
  }
}

// Batches of 8, shuffled, by parallel workers; a batch can be looked at: de-normalised it is the
// bytes again, and its labels have names.
TEST(Spec, R25_ShuffledBatchesOfEightThatCanBeLookedAt) {
  STOKER_NEEDS(plates());
  const auto train = plate_parts().train;
  FeedOptions options{.workers = 4,
                      .batch_size = 8,
                      .epochs = 2,
                      .seed = 3,
                      .normalisation = from_mean_and_deviation(kMean, kDeviation)};
  Feed floats(train, Policy::parse("plates"), options);
  options.pixel_type = PixelType::kU8;
  options.workers = 1;
  Feed bytes(train, Policy::parse("plates"), options);
  std::vector<std::uint64_t> order;
  while (const auto batch = floats.next()) {
    const auto same = bytes.next();
    ASSERT_EQ(batch->size(), 8U);
    order.insert(order.end(), batch->indices().begin(), batch->indices().end());
    for (std::uint32_t slot = 0; slot < 8; ++slot) {
      const auto label = static_cast<std::size_t>(batch->labels()[slot]);
      const std::string name = train->sample_name(batch->indices()[slot]);
      EXPECT_NE(name.find(train->class_names().at(label)), std::string::npos) << name;
      const auto* value = reinterpret_cast<const float*>(batch->pixels_of(slot).data());
      const auto* byte = reinterpret_cast<const std::uint8_t*>(same->pixels_of(slot).data());
      for (std::size_t i = 0; i < 224 * 224 * 3; ++i) {
        const std::size_t c = i / (224 * 224), place = i % (224 * 224);
        ASSERT_EQ(std::lround(255 * (value[i] * kDeviation[c] + kMean[c])), byte[place * 3 + c]);
      }
    }
  }
  ASSERT_EQ(order.size(), 64U);
  const std::vector<std::uint64_t> first(order.begin(), order.begin() + 32),
      second(order.begin() + 32, order.end());
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 32U);
  EXPECT_NE(first, second);
  EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
}

class Epochs final : public Observer {
 public:
  std::vector<double> rates, train_losses, validation_losses;
  void epoch_done(const EpochReport& report) override {
    rates.push_back(report.rate);
    train_losses.push_back(report.train_loss);
    validation_losses.push_back(report.validation.loss);
  }
};

// The document's loop, by hand: the whole network in training mode, its frozen parameters without
// gradients, Adam on the last layer, scheduler.step() at the beginning of each train phase.
Epochs by_hand(Model& model, const TrainData& data, const FeedOptions& feed_options) {
  Epochs epochs;
  std::vector<at::Tensor> head, first, second;
  for (const NamedTensor& p : model.trainable_parameters()) {
    head.push_back(p.tensor);
    first.push_back(at::zeros_like(p.tensor));
    second.push_back(at::zeros_like(p.tensor));
  }
  Feed feed(data.train, data.policy, feed_options);
  double step = 0;
  for (std::uint32_t epoch = 0; epoch < feed_options.epochs; ++epoch) {
    const double rate = 1e-3 * std::pow(0.1, (epoch + 1) / 7);
    double loss = 0;
    for (int b = 0; b < 4; ++b) {
      const auto batch = feed.next();
      const at::Tensor x =
          at::from_blob(const_cast<std::byte*>(batch->pixels().data()), {8, 3, 64, 64}, at::kFloat)
              .clone();
      const at::Tensor labels =
          at::from_blob(const_cast<std::int64_t*>(batch->labels().data()), {8}, at::kLong).clone();
      loss += 8 * model.backward(x, labels, {}).loss.item<double>();
      const at::NoGradGuard no_grad;
      ++step;
      for (std::size_t i = 0; i < head.size(); ++i) {
        const at::Tensor g = head[i].grad();
        first[i].mul_(0.9).add_(g, 0.1);
        second[i].mul_(0.999).addcmul_(g, g, 0.001);
        const at::Tensor m = first[i] / (1 - std::pow(0.9, step));
        const at::Tensor v = second[i] / (1 - std::pow(0.999, step));
        head[i].sub_(m / (v.sqrt() + 1e-8), rate);
        head[i].mutable_grad().reset();
      }
    }
    epochs.rates.push_back(rate);
    epochs.train_losses.push_back(loss / 32);
    epochs.validation_losses.push_back(
        evaluate(
            model, data.validation,
            {.workers = 1, .normalisation = data.normalisation, .policy = data.validation_policy})
            .loss);
  }
  return epochs;
}

// `--recipe plates` is the document's code. Images of 64x64 and a new network, for the time.
TEST(Spec, R26_TheCourseProjectToTheLetter) {
  STOKER_NEEDS(plates());
  RunSettings run;
  GivenSettings given;
  apply_recipe(settings_of(run), given, "plates");
  run.data = plates().string();
  run.model = "resnet18";
  run.resolve();
  EXPECT_EQ(run.train.feed.epochs, 100U);
  EXPECT_EQ(run.train.feed.batch_size, 8U);
  EXPECT_EQ(run.optimiser.kind, OptimiserKind::kAdam);
  EXPECT_EQ(run.optimiser.weight_decay, 0);
  EXPECT_EQ(run.freeze.count(6), 5U);
  EXPECT_FALSE(run.freeze_norms);

  at::set_num_threads(1);
  const auto [train, validation] = plate_parts();
  const TrainData data{.train = train,
                       .validation = validation,
                       .policy = Policy::parse("random_resized_crop(64),hflip(0.5)"),
                       .validation_policy = Policy::parse("resize(64,64)"),
                       .normalisation = from_mean_and_deviation(kMean, kDeviation)};
  const auto make = [] {
    auto model = make_model("resnet18", {.image = {64, 64, 3}, .classes = 2}, 5);
    model->freeze(5);
    model->train_frozen_norms(true);
    return model;
  };
  TrainOptions options = run.train;
  options.feed.epochs = 14;
  options.feed.workers = 2;
  State state(make(), run.optimiser);
  EXPECT_EQ(state.model->trainable_parameters().front().tensor.sizes(), at::IntArrayRef({2, 512}));
  Epochs found;
  Trainer(state, data, options, found).run();
  const auto model = make();
  const Epochs expected = by_hand(*model, data,
                                  {.workers = 1,
                                   .batch_size = 8,
                                   .epochs = 14,
                                   .seed = options.feed.seed,
                                   .normalisation = data.normalisation});
  for (std::size_t epoch = 0; epoch < 14; ++epoch) {
    EXPECT_DOUBLE_EQ(found.rates[epoch], expected.rates[epoch]) << epoch;
    EXPECT_NEAR(found.train_losses[epoch], expected.train_losses[epoch], 1e-5) << epoch;
    EXPECT_NEAR(found.validation_losses[epoch], expected.validation_losses[epoch], 1e-4) << epoch;
  }
  const auto ours = all_tensors(*state.model), by_document = all_tensors(*model);
  const auto start = all_tensors(*make());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_TRUE(at::allclose(ours[i].tensor, by_document[i].tensor, 1e-4, 1e-5)) << ours[i].name;
    const bool changes = ours[i].name.starts_with("fc.") ||
                         ours[i].name.find("running") != ours[i].name.npos ||
                         ours[i].name.ends_with("num_batches_tracked");
    EXPECT_EQ(at::equal(ours[i].tensor, start[i].tensor), !changes) << ours[i].name;
  }
}

}  // namespace
}  // namespace stoker
