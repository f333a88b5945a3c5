#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/nn/graph/exported_network.h"
#include "stoker/nn/graph/graph_builder.h"
#include "stoker/nn/graph/graph_nodes.h"
#include "stoker/nn/graph/trace_values.h"
#include "stoker/nn/inference/fold_norms.h"
#include "stoker/nn/inference/inference_network.h"
#include "stoker/nn/int8/byte_tensors.h"
#include "stoker/nn/int8/calibration_engine.h"
#include "stoker/nn/int8/int8_layer.h"
#include "stoker/nn/int8/quantised_graph.h"
#include "stoker/nn/model_file.h"
#include "stoker/nn/networks/trained_network.h"

namespace stoker {
namespace {

// Of one image, the direction of its logits: 1 where they say the same.
double least_cosine(const at::Tensor& a, const at::Tensor& b) {
  return at::cosine_similarity(a, b, 1).min().item<double>();
}

Calibration calibration_of(const Model& model, std::int64_t images) {
  CalibrationEngine engine(model);
  static_cast<void>(engine.forward(random_images(model.input(), images)));
  return engine.calibration();
}

TEST(QuantisedWeight, HasStepsOfItsOwnForEachOutput) {
  const at::Tensor weight = at::tensor({1.0F, -0.5F, 0.0F, 100.0F, 3.0F, -100.0F}).reshape({2, 3});
  const QuantisedWeight rounded = quantised_weight(weight);
  EXPECT_EQ(rounded.values.scalar_type(), at::kChar);
  EXPECT_TRUE(
      at::equal(rounded.values, at::tensor({64, -32, 0, 64, 2, -64}, at::kChar).reshape({2, 3})));
  EXPECT_FLOAT_EQ(rounded.scales[0].item<float>(), 1.0F / 64);
  EXPECT_FLOAT_EQ(rounded.scales[1].item<float>(), 100.0F / 64);
  EXPECT_TRUE(at::equal(quantised_weight(at::zeros({1, 4})).values, at::zeros({1, 4}, at::kChar)));
}

TEST(CalibrationEngine, MeasuresTheMeanOfEachImage) {
  const auto model = trained_network("resnet18");
  const at::NoGradGuard no_grad;
  CalibrationEngine engine(*model);
  const at::Tensor x = random_images(model->input(), 5);
  const at::Tensor logits = engine.forward(x);
  EXPECT_LT((logits - model->forward(x)).abs().max().item<double>(),
            1e-3 * logits.abs().max().item<double>());
  const Calibration found = engine.calibration();
  EXPECT_EQ(found.images, 5U);
  const std::string images = "images";
  ASSERT_TRUE(found.ranges.contains(images)) << found.ranges.begin()->first;
  const double most = x.reshape({5, -1}).amax(1).mean().item<double>();
  EXPECT_NEAR(found.ranges.at(images).most, most, 1e-6);
  // In other batches the same.
  CalibrationEngine again(*model);
  static_cast<void>(again.forward(x.narrow(0, 0, 2)));
  static_cast<void>(again.forward(x.narrow(0, 2, 3)));
  for (const auto& [name, range] : again.calibration().ranges) {
    EXPECT_NEAR(range.most, found.ranges.at(name).most, 1e-4 * (1 + range.most)) << name;
  }
}

TEST(QuantisedGraph, AllLayersOfAResnetReadBytes) {
  const auto model = trained_network("resnet18");
  InferenceGraph graph = with_folded_norms(inference_graph(*model, ModelCard{}));
  const std::vector<TracedValue> values = trace_values(graph, model->input().image);
  const QuantisedValues quantised = quantised_values(graph, values, calibration_of(*model, 2));
  const FusedGraph fused = fuse_layers(std::move(graph), values, is_int8_activation);
  const std::vector<bool> bytes = values_in_bytes(fused, quantised);
  std::size_t from_float = 0;
  for (const auto& [place, layer] : fused.layers) {
    for (const GraphNamedArgument& argument : fused.network.graph.nodes[place].arguments) {
      if (argument.name != "input") continue;
      from_float += bytes[std::get<GraphReference>(argument.value).value] ? 0 : 1;
    }
  }
  EXPECT_EQ(fused.layers.size(), 21U);
  EXPECT_EQ(from_float, 2U) << "the images, and what the last pool makes";
}

// A value whose pool is read before the value itself is: both have ranges of their own.
TEST(QuantisedGraph, APoolPassesBytesOnlyToTheSameRange) {
  constexpr ModelInput kInput{.image = {.height = 16, .width = 16, .channels = 3}, .classes = 4};
  constexpr InitialValues kNormal{InitialValues::Kind::kNormal, 0.3};
  GraphBuilder b;
  const GraphReference x = b.activation(
      "aten::silu", b.convolution("stem", b.images(),
                                  {.inputs = 3, .outputs = 8, .side = 3, .initial = kNormal}));
  const GraphReference pooled = b.max_pool(x, {});
  const GraphReference first =
      b.convolution("first", pooled, {.inputs = 8, .outputs = 8, .initial = kNormal});
  const GraphReference second =
      b.convolution("second", x, {.inputs = 8, .outputs = 8, .stride = 2, .initial = kNormal});
  const GraphReference flat = b.flatten(b.average_pool(b.add(first, second), 1, 1), 1);
  const auto model =
      make_built_network("pooling", b.finish(b.linear("head", flat, 8, 4, kNormal)), kInput, 3);
  InferenceGraph graph = with_folded_norms(inference_graph(*model, ModelCard{}));
  const std::vector<TracedValue> values = trace_values(graph, kInput.image);
  const QuantisedValues quantised = quantised_values(graph, values, calibration_of(*model, 8));
  const FusedGraph fused = fuse_layers(std::move(graph), values, is_int8_activation);
  const std::vector<bool> bytes = values_in_bytes(fused, quantised);
  int pools = 0;
  for (const GraphNode& node : fused.network.graph.nodes) {
    if (!byte_pool(node)) continue;
    ++pools;
    const std::uint32_t made = node.outputs[0].values[0].value,
                        input = reference_argument(node.arguments, "self")->value;
    ASSERT_FALSE(quantised.at(input) == quantised.at(made));
    EXPECT_FALSE(bytes[made]);
  }
  EXPECT_EQ(pools, 1);
}

TEST(ByteTensors, RoundAsLibTorchDoes) {
  at::manual_seed(5);
  const at::Tensor x = (at::randn({2, 5, 7, 3}) * 3).contiguous(at::MemoryFormat::ChannelsLast);
  const QuantisedValue form{.scale = 0.0371F, .zero_point = 61};
  const at::Tensor bytes = to_bytes(x, form);
  const at::Tensor expected = (at::round(x / form.scale) + 61).clamp(0, 255).to(at::kByte);
  EXPECT_TRUE(at::equal(bytes, expected));
  EXPECT_EQ(bytes.strides(), x.strides());
  EXPECT_TRUE(at::equal(from_bytes(bytes, form), (expected.to(at::kFloat) - 61) * form.scale));
  const at::Tensor halves = at::tensor({0.5F, 1.5F, 2.5F, -0.5F, 1e30F, -1e30F});
  EXPECT_TRUE(at::equal(to_bytes(halves, {.scale = 1, .zero_point = 10}),
                        at::tensor({10, 12, 12, 10, 255, 0}, at::kByte)));
}

TEST(ByteTensors, PoolAsLibTorchDoesOfNumbers) {
  const at::Tensor x = at::randint(0, 256, {3, 6, 13, 10}, at::kByte);
  for (const PoolSizes& sizes :
       {PoolSizes{{3, 3}, {2, 2}, {1, 1}}, PoolSizes{{2, 3}, {1, 2}, {0, 1}}}) {
    const at::Tensor expected =
        at::max_pool2d(x.to(at::kFloat), sizes.kernel, sizes.stride, sizes.padding);
    EXPECT_TRUE(at::equal(max_pool_bytes(x, sizes).to(at::kFloat), expected));
  }
}

class Int8Of : public ::testing::TestWithParam<const char*> {};

TEST_P(Int8Of, IsNear) {
  const auto model = trained_network(GetParam());
  const Calibration calibration = calibration_of(*model, 8);
  InferenceNetwork network(
      *model, {.precision = Precision::kInt8, .threads = 2, .calibration = &calibration});
  const at::NoGradGuard no_grad;
  const at::Tensor x = random_images(model->input(), 8);
  const at::Tensor expected = model->forward(x), found = network.forward(x);
  // Random weights make much of rounding; a wrong layer turns the logits anywhere.
  EXPECT_GT(least_cosine(found, expected), 0.7);
  EXPECT_FALSE(at::allclose(found, expected, 1e-4, 1e-4)) << "it computed in float32";
}

INSTANTIATE_TEST_SUITE_P(Networks, Int8Of,
                         ::testing::Values("resnet18", "mobilenet_v2", "efficientnet_b0",
                                           "vit_tiny_patch16_224"));

TEST(Int8, BitsDoNotDependOnTheNumberOfThreads) {
  const auto model = trained_network("mobilenet_v2");
  const Calibration calibration = calibration_of(*model, 4);
  const at::Tensor x = random_images(model->input(), 150);
  const EngineOptions options{
      .precision = Precision::kInt8, .threads = 1, .calibration = &calibration};
  InferenceNetwork alone(*model, options);
  const auto few = [&](InferenceNetwork& network, std::int64_t count) {
    return network.forward(x.narrow(0, 0, count));
  };
  const at::Tensor expected = alone.forward(x), one = few(alone, 1), three = few(alone, 3);
  for (const int threads : {2, 5}) {
    EngineOptions more = options;
    more.threads = threads;
    InferenceNetwork network(*model, more);
    EXPECT_TRUE(at::equal(network.forward(x), expected)) << threads;
    EXPECT_TRUE(at::equal(few(network, 1), one)) << threads;
    EXPECT_TRUE(at::equal(few(network, 3), three)) << threads;
  }
}

TEST(Calibration, OfAnotherNetworkIsRefused) {
  const auto model = trained_network("resnet18");
  Calibration calibration = calibration_of(*model, 1);
  calibration.ranges.erase(std::prev(calibration.ranges.end()));
  EXPECT_THROW(
      InferenceNetwork(*model, {.precision = Precision::kInt8, .calibration = &calibration}),
      Error);
}

TEST(Calibration, TextGivesTheSame) {
  const Calibration calibration{.images = 3, .ranges = {{"a", {-1.5, 0.1}}, {"b\"", {0, 7}}}};
  EXPECT_EQ(parse_calibration(calibration_text(calibration), "f"), calibration);
  for (const char* text :
       {"", "[]", "{}", R"({"images":1,"ranges":{"a":[1,2]}})",
        R"({"images":1,"ranges":{"a":[-1]}})", R"({"images":1,"ranges":{"a":["x",2]}})",
        R"({"images":-1,"ranges":3})"}) {
    EXPECT_THROW(static_cast<void>(parse_calibration(text, "f")), Error) << text;
  }
}

TEST(EngineTrial, TextGivesTheSame) {
  const EngineTrial trial{.cpu = "X\xff",
                          .threads = 2,
                          .images = 64,
                          .batch_size = 32,
                          .figures = {{.engine = "openvino",
                                       .precision = "int8",
                                       .images_per_second = 12.5,
                                       .same = 0.9,
                                       .largest_difference = 3}}};
  EngineTrial expected = trial;
  expected.cpu = "X\xef\xbf\xbd";
  EXPECT_EQ(parse_engine_trial(engine_trial_text(trial), "f"), expected);
  for (const char* text : {"", "{}", R"({"cpu":1})"}) {
    EXPECT_THROW(static_cast<void>(parse_engine_trial(text, "f")), Error) << text;
  }
}

}  // namespace
}  // namespace stoker
