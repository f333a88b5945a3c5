// One test for each line of the specification that the trainer's modules cover so far, named after
// it.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "stoker/data/sources/joined_source.h"
#include "stoker/data/sources/source_range.h"
#include "stoker/data/sources/subset.h"
#include "stoker/nn/networks/mlp.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/train/device.h"
#include "stoker/train/trainer.h"
#include "tests/spec/spec_data.h"

namespace stoker {
namespace {

const ModelInput kSmallImages = {.image = {.height = 28, .width = 28, .channels = 1},
                                 .classes = 10};

// Accuracy on the validation data, epoch by epoch.
class Accuracy final : public Observer {
 public:
  std::vector<double> top1;
  void epoch_done(const EpochReport& report) override { top1.push_back(report.validation.top1); }
};

std::vector<double> accuracy_of(const TrainData& data, const TrainOptions& options,
                                const OptimiserOptions& optimiser = {.momentum = 0},
                                const char* model = "mlp:784,128,10") {
  at::set_num_threads(1);  // matrices this small are slower on two
  State state(make_model(model, kSmallImages, options.feed.seed), optimiser);
  Accuracy accuracy;
  Trainer(state, data, options, accuracy).run();
  return accuracy.top1;
}

// The course's setting, as experiments/augmentation has it: the first 500 training images, 300
// random batches of 16 an epoch, 15 epochs, sigmoid in every layer, squared error, summed
// gradients, plain gradient descent with rate 0.1.
constexpr const char* kCourseModel = "mlp:784,128,64,10:sigmoid:sigmoid";
constexpr const char* kAugmentation = "rotate(-10,10),shift(-1,1),skew(-0.1,0.1),noise(0.05)";

TrainOptions course_options(int workers) {
  TrainOptions options{
      .feed = {
          .workers = workers, .batch_size = 16, .epochs = 15, .batches_per_epoch = 300, .seed = 1}};
  options.schedule = {.sched = ScheduleKind::kConstant, .lr = 0.1};
  options.loss = LossKind::kSquaredError;
  options.grad_reduction = GradReduction::kSum;
  return options;
}

TrainData course_data(const std::shared_ptr<const Source>& all, const char* policy) {
  return {.train = std::make_shared<SourceRange>(all, IndexRange{0, 500}, "train"),
          .validation = std::make_shared<SourceRange>(all, IndexRange{50'000, 60'000}, "train"),
          .policy = Policy::parse(policy)};
}

// A perceptron from its size-layer vector: N_L = L + 1 layers, L matrices, L vectors, z = Wᵀx + b.
TEST(Spec, R01_PerceptronFromItsSizes) {
  const Mlp mlp({784, 128, 10}, Activation::kSigmoid, 1);
  const auto& [weights, biases] = mlp.layers();
  ASSERT_EQ(weights.size(), 2U);
  EXPECT_EQ(weights[0].sizes(), at::IntArrayRef({784, 128}));
  EXPECT_EQ(weights[1].sizes(), at::IntArrayRef({128, 10}));
  const at::Tensor x = at::rand({784});
  const at::Tensor hidden = at::sigmoid(at::mv(weights[0].t(), x) + biases[0]);
  const at::Tensor z = at::mv(weights[1].t(), hidden) + biases[1];
  EXPECT_TRUE(at::allclose(mlp.forward(x.unsqueeze(0))[0], z, 1e-4, 1e-5));
}

// The named building blocks, exact in their shapes and safe for large numbers.
TEST(Spec, R02_BuildingBlocks) {
  const LayerSizes sizes = {4, 3, 2};
  const auto sums = add_elementwise(zeros_weights(sizes), random_weights(sizes, 1));
  EXPECT_EQ(sums[0].sizes(), at::IntArrayRef({4, 3}));
  EXPECT_EQ(zeros_biases(sizes)[1].sizes(), at::IntArrayRef({2}));
  const at::Tensor far = at::tensor({-1e6F, 1e6F});
  EXPECT_EQ(stoker::sigmoid(far)[0].item<float>(), 0);
  EXPECT_EQ(stoker::sigmoid(far)[1].item<float>(), 1);
  EXPECT_EQ(sigmoid_prime(far).abs().max().item<float>(), 0);
}

// Trained by stochastic gradient descent on MNIST: more than 95 % on the test set; the rate can be
// set.
TEST(Spec, R04_PassesNinetyFivePercentOnMnist) {
  STOKER_REAL_DATA(training, "mnist", Split::kTrain);
  STOKER_REAL_DATA(test, "mnist", Split::kTest);
  TrainOptions options{.feed = {.workers = 2, .batch_size = 16, .epochs = 3, .seed = 1}};
  options.schedule.lr = 0.5;
  const double accuracy = accuracy_of({.train = training, .validation = test}, options).back();
  RecordProperty("accuracy", std::to_string(accuracy));
  EXPECT_GT(accuracy, 0.95);
  options.feed.epochs = 1;
  options.schedule.lr = 1e-4;
  EXPECT_LT(accuracy_of({.train = training, .validation = test}, options).back(), 0.9)
      << "a rate this small cannot have learned as much";
}

// Training on augmented data beats training on the plain data, on the test images: the 10,000 of
// the test set and training images 500 to 49,999. The report's figures: 80.98 to 82.05 % plain,
// 87.50 to 87.91 % augmented.
TEST(Spec, R09_AugmentationBeatsPlainTraining) {
  STOKER_REAL_DATA(all, "mnist", Split::kTrain);
  STOKER_REAL_DATA(ten_thousand, "mnist", Split::kTest);
  const auto test = std::make_shared<JoinedSource>(std::vector<JoinedSource::Part>{
      {"test", ten_thousand},
      {"train", std::make_shared<SourceRange>(all, IndexRange{500, 50'000}, "train")}});
  ASSERT_EQ(test->size(), 59'500U);
  const auto accuracy = [&](const char* policy) {
    at::set_num_threads(1);
    State state(make_model(kCourseModel, kSmallImages, 1), {.momentum = 0});
    Observer nobody;
    Trainer(state, course_data(all, policy), course_options(2), nobody).run();
    EXPECT_EQ(state.step, 4500U);
    return evaluate(*state.model, test, {.workers = 2}).top1;
  };
  const double plain = accuracy("none"), augmented = accuracy(kAugmentation);
  RecordProperty("plain", std::to_string(plain));
  RecordProperty("augmented", std::to_string(augmented));
  EXPECT_GT(plain, 0.80);
  EXPECT_LT(plain, 0.84);
  EXPECT_GT(augmented, 0.87);
  EXPECT_LT(augmented, 0.90);
  EXPECT_GT(augmented, plain + 0.04) << "one seed; 0.05 is for the mean of three";
}

// Accuracy per epoch does not depend on the number of workers. (The table and the plot of times:
// experiments/augmentation.)
TEST(Spec, R10_AccuracyDoesNotDependOnTheWorkers) {
  STOKER_REAL_DATA(all, "mnist", Split::kTrain);
  const TrainData data = course_data(all, kAugmentation);
  const auto accuracy = [&](int workers) {
    TrainOptions options = course_options(workers);
    options.feed.epochs = 4;
    return accuracy_of(data, options, {.momentum = 0}, kCourseModel);
  };
  const std::vector<double> one = accuracy(1);
  EXPECT_EQ(one.size(), 4U);
  for (const int workers : {2, 4, 8}) EXPECT_EQ(accuracy(workers), one);
}

// The accelerator where there is one, else the CPU; a flag overrides it; the reason is told.
TEST(Spec, R20_TheDeviceIsChosenAndExplained) {
  const CudaProbe one{.devices = 1, .reason = "1 CUDA device"};
  EXPECT_EQ(choose_device("auto", one).device.str(), "cuda:0");
  EXPECT_EQ(choose_device("cpu", one).device.str(), "cpu");
  const ChosenDevice here = choose_device("auto");
  EXPECT_FALSE(here.reason.empty());
}

// Mixing devices is an error that names both.
TEST(Spec, R21_MixedDevicesAreNamed) {
  Mlp mlp({784, 10}, Activation::kSigmoid, 1);
  mlp.to(at::kMeta);
  const std::string message = message_of([&] {
    static_cast<void>(mlp.forward(at::rand({1, 784})));
  });
  EXPECT_NE(message.find("meta"), std::string::npos);
  EXPECT_NE(message.find("cpu"), std::string::npos);
}

// A small and a large network learn Fashion-MNIST. (Times by device: experiments/devices.)
TEST(Spec, R22_SmallAndLargeNetworksLearnFashionMnist) {
  STOKER_REAL_DATA(training, "fashion-mnist", Split::kTrain);
  STOKER_REAL_DATA(test, "fashion-mnist", Split::kTest);
  const TrainData data{.train = training, .validation = std::make_shared<Subset>(test, 1000, 1)};
  TrainOptions options{.feed = {.workers = 2, .epochs = 1, .batches_per_epoch = 100, .seed = 1}};
  options.schedule = {.sched = ScheduleKind::kOneCycle, .lr = 0.1};
  EXPECT_GT(accuracy_of(data, options, {}).back(), 0.6);
  EXPECT_GT(accuracy_of(data, options, {}, "cnn:16,32,64").back(), 0.6);
}

}  // namespace
}  // namespace stoker
