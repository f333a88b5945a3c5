// Stages, freezing and the head alone, for every kind of model.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/nn/networks/test_network.h"

namespace stoker {
namespace {

const ModelInput kFreezeInput = {.image = {.height = 40, .width = 32, .channels = 3}, .classes = 5};
const char* const kArchitectures[] = {"mlp:3840,12,9,5:relu", "cnn:4,8,8", "resnet18",
                                      "mobilenet_v2", test_network()};

struct Samples {
  at::Tensor x, labels;
};
Samples random_samples() {
  at::manual_seed(1);
  return {at::rand({6, 3, 40, 32}), at::arange(6).remainder(5)};
}

void forget_gradients(const Model& model) {
  for (const NamedTensor& p : model.parameters()) at::Tensor(p.tensor).mutable_grad().reset();
}

void train_steps(Model& model, int steps) {
  const auto [x, labels] = random_samples();
  for (int step = 0; step < steps; ++step) {
    model.backward(x, labels, {.draw = DrawKey{1, static_cast<std::uint64_t>(step)}});
    const at::NoGradGuard no_grad;
    for (const NamedTensor& p : model.trainable_parameters()) p.tensor.sub_(p.tensor.grad(), 0.1);
    forget_gradients(model);
  }
}

std::vector<at::Tensor> copies(const std::vector<NamedTensor>& tensors) {
  std::vector<at::Tensor> all;
  for (const NamedTensor& t : tensors) all.push_back(t.tensor.detach().clone());
  return all;
}

// How many of a stage's tensors differ from the copies.
std::size_t changed(const std::vector<NamedTensor>& tensors,
                    const std::vector<at::Tensor>& before) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    count += !at::equal(tensors[i].tensor, before[i]);
  return count;
}

void expect_only_later_stages_change(const std::string& architecture, std::size_t frozen) {
  const auto model = make_model(architecture, kFreezeInput, 1);
  model->freeze(frozen);
  std::vector<std::vector<at::Tensor>> parameters, buffers;
  for (const ModelStage& stage : model->stages()) {
    parameters.push_back(copies(stage.parameters));
    buffers.push_back(copies(stage.buffers));
  }
  train_steps(*model, 3);
  const auto after = model->stages();
  for (std::size_t i = 0; i < after.size(); ++i) {
    const bool learns = i >= frozen;
    const std::string where = architecture + ", " + std::to_string(frozen) + ": " + after[i].name;
    EXPECT_EQ(changed(after[i].parameters, parameters[i]), learns ? parameters[i].size() : 0)
        << where;
    EXPECT_EQ(changed(after[i].buffers, buffers[i]), learns ? buffers[i].size() : 0) << where;
  }
}

TEST(Freezing, FrozenStagesStayBitForBitAndTheOthersLearn) {
  for (const char* architecture : kArchitectures) {
    const std::size_t stages = make_model(architecture, kFreezeInput, 1)->stages().size();
    for (const std::size_t frozen : {std::size_t{0}, std::size_t{1}, stages / 2, stages - 1}) {
      expect_only_later_stages_change(architecture, frozen);
    }
  }
}

// As PyTorch's model.train() for a network whose parameters are frozen.
TEST(Freezing, FrozenNormsCanBeTrained) {
  const auto [x, labels] = random_samples();
  for (const char* architecture : {"cnn:4,8,8", "resnet18", "mobilenet_v2"}) {
    const auto model = make_model(architecture, kFreezeInput, 1);
    const auto learning = make_model(architecture, kFreezeInput, 1);
    const std::size_t frozen = model->stages().size() - 1;
    model->freeze(frozen);
    EXPECT_TRUE(model->changing_buffers().empty());
    model->train_frozen_norms(true);
    EXPECT_EQ(model->changing_buffers().size(), model->buffers().size());
    const auto parameters = copies(model->parameters());
    const Model::Pass pass = model->backward(x, labels, {.draw = DrawKey{1, 0}});
    // Outputs and statistics are those of a network that learns as a whole.
    const Model::Pass whole = learning->backward(x, labels, {.draw = DrawKey{1, 0}});
    EXPECT_TRUE(at::equal(pass.logits, whole.logits)) << architecture;
    const auto found = model->buffers(), expected = learning->buffers();
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_TRUE(at::equal(found[i].tensor, expected[i].tensor)) << found[i].name;
    }
    EXPECT_EQ(changed(model->parameters(), parameters), 0U);
    const std::vector<ModelStage> stages = model->stages();
    for (const NamedTensor& p : stages.front().parameters) {
      EXPECT_FALSE(p.tensor.grad().defined()) << p.name;
    }
    // As in use, nothing changes.
    const auto statistics = copies(model->buffers());
    static_cast<void>(model->forward(x));
    EXPECT_EQ(changed(model->buffers(), statistics), 0U);
  }
}

TEST(Freezing, FrozenParametersHaveNoGradient) {
  const auto [x, labels] = random_samples();
  for (const char* architecture : kArchitectures) {
    const auto model = make_model(architecture, kFreezeInput, 1);
    model->freeze(2);
    model->backward(x, labels, {});
    const std::size_t trainable = model->trainable_parameters().size();
    const auto all = model->parameters();
    ASSERT_LT(trainable, all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool learns = i >= all.size() - trainable;
      EXPECT_EQ(all[i].tensor.grad().defined(), learns) << all[i].name;
      if (!learns) {
        EXPECT_FALSE(all[i].tensor.requires_grad()) << all[i].name;
      }
    }
  }
}

// With nothing frozen the gradient reaches the images, else it ends before the first stage.
TEST(Freezing, NothingIsComputedBackThroughTheFrozenFront) {
  for (const char* architecture : {"cnn:4,8,8", "resnet18", "mobilenet_v2"}) {
    const auto model = make_model(architecture, kFreezeInput, 1);
    for (const std::size_t frozen : {0, 1, 2}) {
      auto [x, labels] = random_samples();
      x.requires_grad_(true);
      model->freeze(frozen);
      model->backward(x, labels, {});
      EXPECT_EQ(x.grad().defined(), frozen == 0) << architecture;
    }
  }
}

TEST(Freezing, ChangesNothingOfGradientsBehindIt) {
  const auto [x, labels] = random_samples();
  const auto whole = make_model("mlp:3840,12,9,5", kFreezeInput, 1);
  const auto part = make_model("mlp:3840,12,9,5", kFreezeInput, 1);
  part->freeze(1);
  whole->backward(x, labels, {});
  part->backward(x, labels, {});
  const auto expected = whole->parameters(), found = part->parameters();
  for (std::size_t i = 2; i < expected.size(); ++i) {
    EXPECT_TRUE(at::equal(found[i].tensor.grad(), expected[i].tensor.grad())) << found[i].name;
  }
}

TEST(Freezing, SurvivesAMoveAndCanBeTakenBack) {
  const auto model = make_model("resnet18", kFreezeInput, 1);
  model->freeze(3);
  model->to(at::kMeta);
  const auto learning = [&] {
    std::size_t count = 0;
    for (const NamedTensor& p : model->parameters()) count += p.tensor.requires_grad();
    return count;
  };
  EXPECT_EQ(learning(), model->trainable_parameters().size());
  EXPECT_LT(learning(), model->parameters().size());
  model->freeze(0);
  EXPECT_EQ(learning(), model->parameters().size());
}

TEST(Freezing, TheHeadMustLearn) {
  const auto model = make_model("resnet18", kFreezeInput, 1);
  EXPECT_NO_THROW(model->freeze(5));
  const ErrorDetails error = error_of([&] { model->freeze(6); });
  EXPECT_EQ(error.expected, "at most 5: fc must learn");
  EXPECT_EQ(model->frozen(), 5U);
}

TEST(Head, OfTheFeaturesIsTheWholeNetwork) {
  const at::Tensor x = random_samples().x;
  for (const char* architecture : kArchitectures) {
    const auto model = make_model(architecture, kFreezeInput, 1);
    const at::Tensor features = model->features(x);
    EXPECT_EQ(features.dim(), 2);
    EXPECT_FALSE(features.requires_grad());
    EXPECT_TRUE(at::equal(model->forward_head(features), model->forward(x))) << architecture;
  }
}

TEST(Head, LearnsFromKeptFeaturesWhatItLearnsFromImages) {
  const auto [x, labels] = random_samples();
  const LossOptions options{.smoothing = 0.1, .weight = 0.5, .draw = DrawKey{3, 4}};
  for (const char* architecture : kArchitectures) {
    const auto model = make_model(architecture, kFreezeInput, 1);
    model->freeze(model->stages().size() - 1);
    const Model::Pass whole = model->backward(x, labels, options);
    const auto head = model->trainable_parameters();
    ASSERT_EQ(head.size(), 2U);
    const at::Tensor weight = head[0].tensor.grad().clone(), bias = head[1].tensor.grad().clone();
    forget_gradients(*model);
    const Model::Pass alone = model->backward_head(model->features(x), labels, options);
    EXPECT_TRUE(at::equal(alone.logits, whole.logits)) << architecture;
    EXPECT_TRUE(at::equal(alone.loss, whole.loss)) << architecture;
    EXPECT_TRUE(at::equal(head[0].tensor.grad(), weight)) << architecture;
    EXPECT_TRUE(at::equal(head[1].tensor.grad(), bias)) << architecture;
  }
}

TEST(Head, RefusesWhatIsNotItsFeatures) {
  const auto model = make_model("resnet18", kFreezeInput, 1);
  const std::string message = message_of([&] {
    static_cast<void>(model->forward_head(at::rand({2, 511})));
  });
  EXPECT_NE(message.find("Expected (samples, 512), got (2, 511)"), std::string::npos) << message;
}

}  // namespace
}  // namespace stoker
