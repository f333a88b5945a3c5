// One test for each line of the specification that the trainer's rooms cover so far, named after
// it.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "stoker/nn/mlp.h"
#include "stoker/pipeline/feed.h"
#include "tests/spec/spec_data.h"

namespace stoker {
namespace {

// The batch's own memory as tensors: nothing is copied.
at::Tensor pixels_of(const Batch& batch) {
  auto* data = const_cast<std::byte*>(batch.pixels().data());
  return at::from_blob(data, {batch.size(), 784}, at::kFloat);
}
at::Tensor labels_of(const Batch& batch) {
  return at::from_blob(const_cast<std::int64_t*>(batch.labels().data()), {batch.size()}, at::kLong);
}

double test_accuracy(const Mlp& mlp, const std::shared_ptr<const Source>& source) {
  Feed feed(source, Policy(), {.workers = 2, .batch_size = 1000, .shuffle = false});
  std::int64_t right = 0;
  while (const auto batch = feed.next()) {
    right +=
        mlp.forward(pixels_of(*batch)).argmax(1).eq(labels_of(*batch)).sum().item<std::int64_t>();
  }
  return static_cast<double>(right) / static_cast<double>(source->size());
}

// Plain stochastic gradient descent, as the assignment has it.
double train(const std::shared_ptr<const Source>& source, Mlp& mlp, double rate,
             std::uint32_t epochs) {
  Feed feed(source, Policy(), {.workers = 2, .batch_size = 16, .epochs = epochs, .seed = 1});
  double loss = 0;
  while (const auto batch = feed.next()) {
    loss = mlp.backward(pixels_of(*batch), labels_of(*batch), {}).loss.item<double>();
    for (const NamedTensor& named : mlp.parameters()) {
      at::Tensor parameter = named.tensor;
      parameter.sub_(parameter.grad(), rate);
      parameter.mutable_grad().reset();
    }
  }
  return loss;
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
  at::set_num_threads(1);  // matrices this small are slower on two
  Mlp mlp({784, 128, 10}, Activation::kSigmoid, 1);
  train(training, mlp, 0.5, 3);
  const double accuracy = test_accuracy(mlp, test);
  RecordProperty("accuracy", std::to_string(accuracy));
  EXPECT_GT(accuracy, 0.95);
  Mlp slow({784, 128, 10}, Activation::kSigmoid, 1);
  train(training, slow, 1e-4, 1);
  EXPECT_LT(test_accuracy(slow, test), 0.9) << "a rate this small cannot have learned as much";
}

}  // namespace
}  // namespace stoker
