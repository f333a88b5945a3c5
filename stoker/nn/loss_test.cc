#include "stoker/nn/loss.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/nn/networks/mlp.h"
#include "stoker/nn/networks/registry.h"

namespace stoker {
namespace {

constexpr auto kAll = {LossKind::kCrossEntropy, LossKind::kSquaredError,
                       LossKind::kBinaryCrossEntropy};

struct Problem {
  at::Tensor x, labels, partners;
};

Problem random_problem(std::int64_t samples, std::int64_t inputs, std::int64_t classes) {
  at::manual_seed(1);
  return {at::rand({samples, inputs}), at::randint(classes, {samples}, at::kLong),
          at::randint(classes, {samples}, at::kLong)};
}

double relative_difference(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).norm().item<double>() / b.norm().item<double>();
}

// What the loss is by its definition, from the last layer's z; autograd finds its slope.
at::Tensor defined_loss(const Mlp& mlp, const at::Tensor& z, const at::Tensor& labels,
                        const LossOptions& options, const at::Tensor& of_samples = {}) {
  const at::Tensor counts = of_samples.defined() ? of_samples : at::ones({labels.size(0)});
  const bool sigmoid = mlp.output() == OutputActivation::kSigmoid;
  const at::Tensor a = sigmoid ? at::sigmoid(z) : z.softmax(1);
  const at::Tensor target = smoothed_onehot(labels, z.detach(), options.smoothing);
  const at::Tensor weights =
      options.class_weights.defined() ? options.class_weights : at::ones({mlp.input().classes});
  if (options.kind == LossKind::kSquaredError) {
    const at::Tensor errors = 0.5 * (a - target).square().sum(1);
    return (errors * weights.index_select(0, labels) * counts).mean();
  }
  if (options.kind == LossKind::kBinaryCrossEntropy) {
    const at::Tensor p = at::sigmoid(z);  // with either output
    const at::Tensor each = -(target * p.log() + (1 - target) * (1 - p).log()).mean(1);
    return (each * weights.index_select(0, labels) * counts).mean();
  }
  const at::Tensor p = a / a.sum(1, /*keepdim=*/true);
  return -((p.log() * target * weights).sum(1) * counts).mean();
}

at::Tensor output_of(const Mlp& mlp, const at::Tensor& x) {
  at::Tensor a = x;
  const auto& [weights, biases] = mlp.layers();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    a = at::addmm(biases[i], i == 0 ? a : at::sigmoid(a), weights[i]);
  }
  return a;
}

void expect_autograds_gradients(Mlp& mlp, const Problem& problem, const LossOptions& options) {
  const double ours = mlp.backward(problem.x, problem.labels, options).loss.item<double>();
  std::vector<at::Tensor> gradients;
  for (const NamedTensor& named : mlp.parameters()) {
    at::Tensor parameter = named.tensor;
    gradients.push_back(parameter.grad());
    parameter.mutable_grad().reset();
    parameter.requires_grad_(true);
  }
  const at::AutoGradMode grad(true);
  const at::Tensor z = output_of(mlp, problem.x);
  at::Tensor loss = defined_loss(mlp, z, problem.labels, options, options.sample_weights);
  if (options.partner_labels.defined()) {
    loss = loss * options.own_share +
           defined_loss(mlp, z, options.partner_labels, options, options.partner_weights) *
               (1 - options.own_share);
  }
  (loss * options.weight).backward();
  EXPECT_NEAR(ours, loss.item<double>(), 1e-5);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    at::Tensor parameter = mlp.parameters()[i].tensor;
    EXPECT_LE(relative_difference(gradients[i], parameter.grad()), 1e-5);
    parameter.mutable_grad().reset();
    parameter.requires_grad_(false);
  }
}

TEST(Loss, GradientsOfEveryLossAndOutputEqualAutograds) {
  const Problem problem = random_problem(12, 20, 5);
  const at::Tensor weights = at::tensor({0.5F, 1.0F, 2.0F, 0.25F, 1.5F});
  for (const auto output : {OutputActivation::kSoftmax, OutputActivation::kSigmoid}) {
    for (const auto kind : kAll) {
      Mlp mlp({20, 16, 5}, Activation::kSigmoid, 3, output);
      expect_autograds_gradients(mlp, problem, {.kind = kind});
      expect_autograds_gradients(mlp, problem, {.kind = kind, .smoothing = 0.1, .weight = 12});
      expect_autograds_gradients(mlp, problem, {.kind = kind, .class_weights = weights});
      expect_autograds_gradients(mlp, problem,
                                 {.kind = kind,
                                  .class_weights = weights,
                                  .partner_labels = problem.partners,
                                  .own_share = 0.7});
      const at::Tensor counts = at::arange(12).to(at::kFloat) / 4;
      expect_autograds_gradients(mlp, problem, {.kind = kind, .sample_weights = counts});
      expect_autograds_gradients(mlp, problem,
                                 {.kind = kind,
                                  .smoothing = 0.1,
                                  .class_weights = weights,
                                  .sample_weights = counts,
                                  .partner_labels = problem.partners,
                                  .partner_weights = counts.flip(0),
                                  .own_share = 0.7});
    }
  }
}

// A sample of weight 2 counts as two, and one of weight 0 as none; the mean is over all of them.
// Of the head alone, since batch norms would see which samples are there.
TEST(Loss, ANetworkOfAutogradWeighsSamples) {
  const ModelInput input{.image = {8, 8, 1}, .classes = 3};
  at::manual_seed(2);
  const at::Tensor x = at::rand({4, 1, 8, 8}), labels = at::tensor({0, 1, 2, 0}, at::kLong);
  const at::Tensor all = at::arange(4), twice = at::tensor({0, 0, 1, 3}, at::kLong);
  const auto pass = [&](const at::Tensor& rows, const LossOptions& options) {
    const auto model = make_model("cnn:4,8", input, 1);
    const at::Tensor features = model->features(x).index_select(0, rows);
    const at::Tensor loss =
        model->backward_head(features, labels.index_select(0, rows), options).loss;
    return std::pair(loss, model->parameters().back().tensor.grad());
  };
  const at::Tensor weights = at::tensor({2.0F, 1.0F, 0.0F, 1.0F});
  for (const auto kind : kAll) {
    const auto [loss, slope] = pass(all, {.kind = kind, .sample_weights = weights});
    const auto [expected_loss, expected_slope] = pass(twice, {.kind = kind});
    EXPECT_NEAR(loss.item<double>(), expected_loss.item<double>(), 1e-6);
    EXPECT_TRUE(at::allclose(slope, expected_slope, 1e-5, 1e-7));
  }
}

// The course's formulas, written out: output error (a - y) σ'(z), summed over the batch.
TEST(Loss, SquaredErrorOfASigmoidOutputIsTheCoursesGradient) {
  Mlp mlp({6, 4, 3}, Activation::kSigmoid, 3, OutputActivation::kSigmoid);
  const Problem problem = random_problem(7, 6, 3);
  const double samples = 7;
  const auto pass =
      mlp.backward(problem.x, problem.labels, {.kind = LossKind::kSquaredError, .weight = samples});
  const auto& [weights, biases] = mlp.layers();
  at::Tensor nabla_w0 = at::zeros({6, 4}), nabla_b1 = at::zeros({3});
  double loss = 0;
  for (std::int64_t i = 0; i < 7; ++i) {
    const at::Tensor z0 = weights[0].t().mv(problem.x[i]) + biases[0];
    const at::Tensor z1 = weights[1].t().mv(at::sigmoid(z0)) + biases[1];
    const at::Tensor a = at::sigmoid(z1);
    at::Tensor y = at::zeros({3});
    y[problem.labels[i].item<std::int64_t>()] = 1;
    const at::Tensor d1 = (a - y) * sigmoid_prime(z1);
    const at::Tensor d0 = weights[1].mv(d1) * sigmoid_prime(z0);
    nabla_b1 += d1;
    nabla_w0 += at::outer(problem.x[i], d0);
    loss += 0.5 * (a - y).square().sum().item<double>();
  }
  EXPECT_NEAR(pass.loss.item<double>(), loss / samples, 1e-6);
  EXPECT_LE(relative_difference(weights[0].grad(), nabla_w0), 1e-5);
  EXPECT_LE(relative_difference(biases[1].grad(), nabla_b1), 1e-5);
}

TEST(Loss, ASigmoidOutputGivesActivationsAndTheirFractionsAsProbabilities) {
  const Mlp mlp({6, 4, 3}, Activation::kSigmoid, 3, OutputActivation::kSigmoid);
  const at::Tensor x = random_problem(5, 6, 3).x;
  const at::Tensor logits = mlp.forward(x), a = at::sigmoid(output_of(mlp, x));
  EXPECT_TRUE(at::allclose(mlp.activated(logits), a, 1e-5, 1e-7));
  EXPECT_TRUE(at::allclose(logits.softmax(1), a / a.sum(1, true), 1e-5, 1e-7));
  const Mlp plain({6, 4, 3}, Activation::kSigmoid, 3);
  EXPECT_TRUE(at::equal(plain.activated(plain.forward(x)), plain.forward(x).softmax(1)));
}

// Where sigmoid is 0 or 1 in float32, classes keep their order and nothing is NaN.
TEST(Loss, LogitsOfASigmoidOutputAreSafeForLargeNumbers) {
  Mlp mlp({1, 4}, Activation::kSigmoid, 3, OutputActivation::kSigmoid);
  mlp.layers().weights[0].copy_(at::tensor({-300.0F, -200.0F, 30.0F, 60.0F}).view({1, 4}));
  const at::Tensor logits = mlp.forward(at::ones({1, 1}));
  EXPECT_TRUE(logits.isfinite().all().item<bool>());
  EXPECT_TRUE(at::equal(logits.argsort(/*dim=*/1, /*descending=*/false)[0], at::arange(4)));
  EXPECT_TRUE(logits.softmax(1).isfinite().all().item<bool>());
}

TEST(Loss, ANetworkOfAutogradLearnsFromTheSquaredErrorToo) {
  const ModelInput input{.image = {8, 8, 1}, .classes = 3};
  const auto model = make_model("cnn:4,8", input, 1);
  at::manual_seed(2);
  const at::Tensor x = at::rand({6, 1, 8, 8}), labels = at::arange(6).remainder(3);
  const auto pass = model->backward(x, labels, {.kind = LossKind::kSquaredError});
  const at::Tensor target = smoothed_onehot(labels, pass.logits, 0);
  EXPECT_NEAR(pass.loss.item<double>(),
              0.5 * (pass.logits.softmax(1) - target).square().sum(1).mean().item<double>(), 1e-6);
  for (const NamedTensor& p : model->parameters()) {
    EXPECT_TRUE(p.tensor.grad().defined()) << p.name;
  }
}

TEST(Loss, OfValidationIsTheSameFormula) {
  const Mlp mlp({6, 3}, Activation::kSigmoid, 3, OutputActivation::kSigmoid);
  const Problem problem = random_problem(4, 6, 3);
  const at::Tensor logits = mlp.forward(problem.x), logs = logits.log_softmax(1);
  const at::Tensor squared =
      losses_of_samples(LossKind::kSquaredError, mlp, logits, logs, problem.labels);
  EXPECT_EQ(squared.sizes(), at::IntArrayRef({4}));
  const at::Tensor z = output_of(mlp, problem.x);
  EXPECT_NEAR(
      squared.mean().item<double>(),
      defined_loss(mlp, z, problem.labels, {.kind = LossKind::kSquaredError}).item<double>(), 1e-6);
  const at::Tensor entropy =
      losses_of_samples(LossKind::kCrossEntropy, mlp, logits, logs, problem.labels);
  EXPECT_NEAR(entropy.mean().item<double>(),
              defined_loss(mlp, z, problem.labels, {}).item<double>(), 1e-5);
  const LossOptions binary{.kind = LossKind::kBinaryCrossEntropy};
  for (const auto output : {OutputActivation::kSoftmax, OutputActivation::kSigmoid}) {
    const Mlp other({6, 3}, Activation::kSigmoid, 3, output);
    const at::Tensor found =
        losses_of_samples(binary.kind, other, other.forward(problem.x), logs, problem.labels);
    EXPECT_NEAR(
        found.mean().item<double>(),
        defined_loss(other, output_of(other, problem.x), problem.labels, binary).item<double>(),
        1e-6);
  }
}

// timm 1.0.30: BinaryCrossEntropy(smoothing)(x, labels), and of a mixed batch its value for dense
// targets 0.7 onehot(labels) + 0.3 onehot(partners), both smoothed; x.grad.
TEST(Loss, BinaryCrossEntropyOfClassesIsTimms) {
  const at::AutoGradMode grad(true);
  const Mlp mlp({6, 3}, Activation::kSigmoid, 3);
  const at::Tensor labels = at::tensor({0, 2, 2}, at::kLong);
  const auto expect = [&](const LossOptions& options, double loss, std::vector<double> slope) {
    const at::Tensor x = at::tensor({0.5, -1.25, 3.0, -2.0, 0.0, 0.75, 60.0, -60.0, -0.125})
                             .to(at::kFloat)
                             .view({3, 3})
                             .requires_grad_(true);
    const at::Tensor found = mean_class_loss(mlp, {x, x}, labels, options);
    found.backward();
    EXPECT_NEAR(found.item<double>(), loss, 1e-6);
    EXPECT_TRUE(at::allclose(x.grad().flatten(), at::tensor(slope, at::kFloat), 1e-5, 1e-8))
        << x.grad();
  };
  const auto kind = LossKind::kBinaryCrossEntropy;
  expect({.kind = kind}, 7.30434847,
         {-0.0419489592, 0.0247444585, 0.10584157, 0.0132447686, 0.055555556, -0.0356468111,
          0.111111112, 9.72945623e-28, -0.0590232611});
  expect({.kind = kind, .smoothing = 0.1}, 7.31360817,
         {-0.0345415547, 0.0210407563, 0.102137864, 0.0095410645, 0.0518518537, -0.0282394029,
          0.107407406, -0.00370370387, -0.0516158566});
  expect({.kind = kind,
          .smoothing = 0.1,
          .partner_labels = at::tensor({2, 2, 0}, at::kLong),
          .own_share = 0.7},
         5.43485832,
         {-0.00454154937, 0.0210407563, 0.0721378624, 0.0095410645, 0.0518518537, -0.0282393955,
          0.0774074048, -0.00370370387, -0.0216158535});
}

TEST(Loss, BinaryCrossEntropyOfASigmoidOutputIsSafeForLargeNumbers) {
  Mlp mlp({1, 4}, Activation::kSigmoid, 3, OutputActivation::kSigmoid);
  mlp.layers().weights[0].copy_(at::tensor({-300.0F, -20.0F, 30.0F, 300.0F}).view({1, 4}));
  const at::Tensor x = at::ones({1, 1}), logits = mlp.forward(x);
  const at::Tensor expected = at::tensor({-300.0F, -20.0F, 30.0F, 104.0F});
  EXPECT_TRUE(at::allclose(mlp.class_scores(logits)[0], expected, 1e-5)) << logits;
  for (std::int64_t label = 0; label < 4; ++label) {
    const auto pass =
        mlp.backward(x, at::full({1}, label, at::kLong), {.kind = LossKind::kBinaryCrossEntropy});
    EXPECT_TRUE(pass.loss.isfinite().item<bool>()) << label;
    EXPECT_TRUE(mlp.layers().weights[0].grad().isfinite().all().item<bool>()) << label;
  }
}

// PyTorch: F.kl_div(log_softmax(z / T), softmax(t / T)).sum(1) * T² and F.cross_entropy(z,
// t.argmax(1)), with F.cross_entropy(z, y) in the other part; z.grad.
TEST(Loss, OfATeacherIsPyTorchs) {
  const at::AutoGradMode grad(true);
  const Mlp mlp({6, 3}, Activation::kSigmoid, 3);
  const at::Tensor labels = at::tensor({0, 2}, at::kLong);
  const at::Tensor teacher = at::tensor({1.0F, 0.25F, -0.5F, -3.0F, 2.0F, 1.5F}).view({2, 3});
  const auto expect = [&](LossOptions options, double loss, std::vector<double> slope) {
    options.teacher_logits = teacher;
    const at::Tensor z =
        at::tensor({0.5F, -1.25F, 3.0F, -2.0F, 0.0F, 0.75F}).view({2, 3}).requires_grad_(true);
    const at::Tensor found = mean_class_loss(mlp, {z, z}, labels, options);
    found.backward();
    EXPECT_NEAR(found.item<double>(), loss, 1e-6);
    EXPECT_TRUE(at::allclose(z.grad().flatten(), at::tensor(slope, at::kFloat), 1e-5, 1e-7))
        << z.grad();
  };
  expect({.distill = {.alpha = 0.7, .temperature = 1}}, 1.16539454,
         {-0.318993568, -0.0910049006, 0.409998477, 0.0193440616, -0.0632151514, 0.0438710898});
  expect({.distill = {.alpha = 0.7, .temperature = 3}}, 1.4070909,
         {-0.306869268, -0.189032987, 0.49590233, 0.101512037, -0.0944163874, -0.00709569082});
  expect({.smoothing = 0.1, .distill = {.kind = DistillKind::kHard, .alpha = 0.5}}, 1.72109616,
         {-0.445897698, -0.00182799995, 0.447725713, 0.0124725299, -0.104597636, 0.0921251029});
}

// With any loss and both outputs, a perceptron's gradients are those of its logits.
TEST(Loss, APerceptronLearnsFromATeacher) {
  const Problem problem = random_problem(7, 6, 3);
  for (const auto output : {OutputActivation::kSoftmax, OutputActivation::kSigmoid}) {
    for (const auto kind : kAll) {
      Mlp mlp({6, 3}, Activation::kSigmoid, 3, output);
      const Mlp teacher({6, 3}, Activation::kSigmoid, 8);
      LossOptions options{.kind = kind, .weight = 7, .sample_weights = at::rand({7})};
      options.partner_labels = problem.partners;
      options.partner_weights = options.sample_weights.flip(0);
      options.own_share = 0.6;
      options.teacher_logits = teacher.forward(problem.x);
      const double ours = mlp.backward(problem.x, problem.labels, options).loss.item<double>();
      at::Tensor& weight = mlp.layers().weights[0];
      const at::Tensor slope = weight.grad();
      weight.mutable_grad().reset();
      weight.requires_grad_(true);
      const at::AutoGradMode grad(true);
      const at::Tensor z = output_of(mlp, problem.x), own = options.sample_weights;
      const bool sigmoid = output == OutputActivation::kSigmoid;
      const at::Tensor logits = sigmoid ? at::log_sigmoid(z) : z;
      const at::Tensor labelled =
          defined_loss(mlp, z, problem.labels, options, own) * 0.6 +
          defined_loss(mlp, z, problem.partners, options, own.flip(0)) * 0.4;
      const at::Tensor p = (options.teacher_logits / 3).softmax(1);
      const at::Tensor each = (p * (p.log() - (logits / 3).log_softmax(1))).sum(1) * 9;
      const at::Tensor taught = (each * (own * 0.6 + own.flip(0) * 0.4)).mean();
      const at::Tensor loss = labelled * 0.5 + taught * 0.5;
      (loss * 7).backward();
      EXPECT_NEAR(ours, loss.item<double>(), 1e-5);
      EXPECT_LE(relative_difference(slope, weight.grad()), 1e-5);
    }
  }
}

TEST(Loss, NamesAreRead) {
  EXPECT_EQ(parse_loss_kind("mse"), LossKind::kSquaredError);
  EXPECT_EQ(parse_loss_kind("cross-entropy"), LossKind::kCrossEntropy);
  EXPECT_THROW((void)parse_loss_kind("hinge"), Error);
}

}  // namespace
}  // namespace stoker
