#include "stoker/nn/graph/exported_network.h"

#include <map>
#include <string>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/io/test_exported_programs.h"
#include "stoker/nn/layers/running_share.h"
#include "stoker/nn/model_file.h"
#include "stoker/nn/networks/registry.h"

namespace stoker {
namespace {

using exported::argument;
using exported::joined;
using exported::node;
using exported::tensor;
using testing::HasSubstr;

constexpr ModelInput kInput{.image = {.height = 8, .width = 8, .channels = 3}, .classes = 5};

std::unique_ptr<Model> make(const std::string& nodes = exported::good_nodes(),
                            const ModelInput& input = kInput) {
  const TempFolder folder;
  const auto path = folder.write(
      "tiny.pt2", pickles::zip_of(exported::good_records(exported::model_json(nodes))));
  return make_model(path.string(), input, /*seed=*/1);
}

std::map<std::string, at::Tensor> by_name(const std::vector<NamedTensor>& tensors) {
  std::map<std::string, at::Tensor> all;
  for (const NamedTensor& named : tensors) all[named.name] = named.tensor.detach().clone();
  return all;
}

at::Tensor images(std::int64_t count = 4) { return at::randn({count, 3, 8, 8}); }
at::Tensor labels(std::int64_t count = 4) { return at::arange(count) % 5; }

TEST(ExportedNetwork, HasStagesAndAHead) {
  const auto model = make();
  EXPECT_EQ(model->architecture(), "graph:tiny");
  const auto stages = model->stages();
  ASSERT_EQ(stages.size(), 3U);
  EXPECT_EQ(stages[0].name, "conv");
  EXPECT_EQ(stages[1].name, "bn");
  EXPECT_EQ(stages[2].name, "fc");
  EXPECT_EQ(stages[1].buffers.size(), 3U);
  EXPECT_EQ(model->multiply_adds(), 4 * 27 * 64 + 20);
}

TEST(ExportedNetwork, InUseNothingOfItChanges) {
  const auto model = make();
  const auto before = by_name(model->buffers());
  const at::Tensor x = images();
  EXPECT_TRUE(at::equal(model->forward(x), model->forward(x)));
  for (const auto& [name, value] : by_name(model->buffers())) {
    EXPECT_TRUE(at::equal(value, before.at(name))) << name;
  }
}

TEST(ExportedNetwork, APassOfTrainingFillsGradientsAndMovesStatistics) {
  const auto model = make();
  const auto before = by_name(model->buffers());
  static_cast<void>(model->backward(images(), labels(), {}));
  for (const NamedTensor& named : model->parameters()) {
    ASSERT_TRUE(named.tensor.grad().defined()) << named.name;
  }
  const auto after = by_name(model->buffers());
  EXPECT_EQ(after.at("bn.num_batches_tracked").item<std::int64_t>(), 1);
  EXPECT_FALSE(at::equal(after.at("bn.running_mean"), before.at("bn.running_mean")));
}

TEST(ExportedNetwork, StatisticsCanMoveWithoutGradients) {
  const at::Tensor x = images();
  const auto trained = make(), noted = make();
  static_cast<void>(trained->backward(x, labels(), {}));
  noted->note_statistics(x, {});
  const auto expected = by_name(trained->buffers()), found = by_name(noted->buffers());
  for (const auto& [name, value] : expected) EXPECT_TRUE(at::equal(found.at(name), value)) << name;
  for (const NamedTensor& named : noted->parameters()) {
    EXPECT_FALSE(named.tensor.grad().defined()) << named.name;
  }
}

TEST(ExportedNetwork, StatisticsCanBeMeansOverBatches) {
  const std::vector<at::Tensor> batches = {images(), images(7), images(5)};
  const auto model = make();
  std::map<std::string, at::Tensor> sums;
  for (const at::Tensor& batch : batches) {
    const RunningShare only(1);
    model->note_statistics(batch, {});
    for (const auto& [name, value] : by_name(model->buffers())) {
      sums[name] = sums.contains(name) ? sums[name] + value : value;
    }
  }
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const RunningShare share(1 / static_cast<double>(i + 1));
    model->note_statistics(batches[i], {});
  }
  const auto found = by_name(model->buffers());
  for (const char* name : {"bn.running_mean", "bn.running_var"}) {
    EXPECT_TRUE(at::allclose(found.at(name), sums.at(name) / 3, 1e-5, 1e-7)) << name;
  }
}

TEST(ExportedNetwork, FrozenStagesStayAsTheyAre) {
  const auto model = make();
  model->freeze(2);
  const auto before = by_name(model->buffers());
  static_cast<void>(model->backward(images(), labels(), {}));
  for (const auto& [name, value] : by_name(model->buffers())) {
    EXPECT_TRUE(at::equal(value, before.at(name))) << name;
  }
  EXPECT_FALSE(by_name(model->stages()[0].parameters).empty());
  EXPECT_FALSE(model->stages()[0].parameters[0].tensor.grad().defined());
  model->train_frozen_norms(true);
  static_cast<void>(model->backward(images(), labels(), {}));
  EXPECT_FALSE(
      at::equal(by_name(model->buffers()).at("bn.running_mean"), before.at("bn.running_mean")));
}

TEST(ExportedNetwork, TheHeadIsReplacedForOtherClasses) {
  ModelInput three = kInput;
  three.classes = 3;
  const auto model = make(exported::good_nodes(), three);
  EXPECT_EQ(model->forward(images()).size(1), 3);
  const auto kept = make();
  EXPECT_FLOAT_EQ(by_name(kept->parameters()).at("fc.bias")[1].item<float>(), 0.11F);
}

TEST(ExportedNetwork, GreyImagesSeeTheSumOfTheChannels) {
  ModelInput grey = kInput;
  grey.image.channels = 1;
  const auto one = make(exported::good_nodes(), grey), three = make();
  const at::Tensor x = at::randn({2, 1, 8, 8});
  EXPECT_TRUE(at::allclose(one->forward(x), three->forward(x.expand({2, 3, 8, 8})), 1e-4, 1e-5));
}

TEST(ExportedNetwork, AModelFileIsEnough) {
  const TempFolder folder;
  const auto model = make();
  save_model(folder.path() / "m.safetensors", *model, {"a", "b", "c", "d", "e"}, {});
  const LoadedModel loaded = load_model(folder.path() / "m.safetensors");
  EXPECT_EQ(loaded.model->architecture(), "graph:tiny");
  const at::Tensor x = images();
  EXPECT_TRUE(at::equal(loaded.model->forward(x), model->forward(x)));
}

TEST(ExportedNetwork, ConstantsOfAnyTypeAreSaved) {
  const TempFolder folder;
  auto weights = exported::good_weights();
  weights.push_back(exported::weight_line("mask", "w8", exported::ints({4}), exported::ints({1}),
                                          /*type=*/12));
  const std::string masked = node("torch.ops.aten.bitwise_not.default",
                                  argument("self", tensor("b_mask")), tensor("unused"));
  auto records = exported::good_records(
      exported::model_json(joined({masked, exported::good_nodes()}),
                           joined({exported::good_inputs(), exported::buffer("b_mask", "mask")})),
      weights);
  records.emplace_back("net/data/weights/w8", std::string("\1\0\1\1", 4));
  const auto model =
      make_model(folder.write("mask.pt2", pickles::zip_of(records)).string(), kInput, /*seed=*/1);
  save_model(folder.path() / "m.safetensors", *model, {"a", "b", "c", "d", "e"}, {});
  const auto loaded = load_model(folder.path() / "m.safetensors");
  EXPECT_EQ(by_name(loaded.model->buffers()).at("mask").scalar_type(), at::kBool);
}

TEST(ExportedNetwork, ShowsWhereItLooks) {
  const auto model = make();
  EXPECT_EQ(model->class_activation(images(), labels()).sizes().vec(),
            (std::vector<std::int64_t>{4, 8, 8}));
}

// With channels last and their mean, as Swin has them.
std::string channels_last_nodes() {
  return joined(
      {exported::conv_node(), exported::count_node(), exported::norm_node(),
       node("torch.ops.aten.permute.default",
            joined({argument("self", tensor("batch_norm")),
                    argument("dims", R"({"as_ints":[0,2,3,1]})")}),
            tensor("permute")),
       node("torch.ops.aten.mean.dim",
            joined({argument("self", tensor("permute")), argument("dim", R"({"as_ints":[1,2]})")}),
            tensor("flat")),
       exported::head_node()});
}

TEST(ExportedNetwork, ShowsWhereItLooksWithChannelsLast) {
  ModelInput wide = kInput;
  wide.image = {.height = 8, .width = 16, .channels = 3};
  const auto model = make(channels_last_nodes(), wide);
  EXPECT_EQ(model->class_activation(at::randn({4, 3, 8, 16}), labels()).sizes().vec(),
            (std::vector<std::int64_t>{4, 8, 16}));
}

TEST(ExportedNetwork, ShowsNothingWhereItHasOnePlace) {
  ModelInput dot = kInput;
  dot.image = {.height = 1, .width = 1, .channels = 3};
  for (const std::string& nodes : {exported::good_nodes(), channels_last_nodes()}) {
    const auto model = make(nodes, dot);
    EXPECT_FALSE(dynamic_cast<const AutogradModel&>(*model).has_map());
    EXPECT_THROW((void)model->class_activation(at::randn({4, 3, 1, 1}), labels()), Error);
  }
}

// ---- What is drawn at random.

std::string dropping_nodes(const std::string& drop) {
  return joined({exported::conv_node(), exported::count_node(), drop, exported::norm_node(),
                 exported::pool_nodes(), exported::head_node()});
}
std::string dropout_node(bool in_place = false) {
  return node(
      in_place ? "torch.ops.aten.dropout_.default" : "torch.ops.aten.dropout.default",
      joined({argument(in_place ? "self" : "input", tensor("conv2d")),
              argument("p", R"({"as_float":0.5})"), argument("train", R"({"as_bool":true})")}),
      tensor("dropped"), "drop");
}
// new_empty, bernoulli_, div_ and mul, as timm writes stochastic depth.
std::string depth_nodes() {
  const auto sizes = R"({"as_sym_ints":[{"as_name":"n"},{"as_int":1},{"as_int":1},{"as_int":1}]})";
  return joined(
      {node("torch.ops.aten.sym_size.int",
            joined({argument("self", tensor("x")), argument("dim", R"({"as_int":0})")}),
            R"({"as_sym_int":{"as_name":"n"}})"),
       node("torch.ops.aten.new_empty.default",
            joined({argument("self", tensor("conv2d")), argument("size", sizes)}), tensor("mask")),
       node("torch.ops.aten.bernoulli_.float",
            joined({argument("self", tensor("mask")), argument("p", R"({"as_float":0.5})")}),
            tensor("drawn")),
       node("torch.ops.aten.div_.Tensor",
            joined({argument("self", tensor("drawn")), argument("other", R"({"as_float":0.5})")}),
            tensor("scaled")),
       node("torch.ops.aten.mul.Tensor",
            joined({argument("self", tensor("conv2d")), argument("other", tensor("scaled"))}),
            tensor("dropped"))});
}
std::string renamed(std::string nodes) {
  const std::string from = R"("input","arg":{"as_tensor":{"name":"conv2d"}})";
  const std::size_t place = nodes.rfind(from);
  return nodes.replace(place, from.size(), R"("input","arg":{"as_tensor":{"name":"dropped"}})");
}

at::Tensor trained_logits(Model& model, const at::Tensor& x, const at::Tensor& y,
                          const std::optional<DrawKey>& draw) {
  LossOptions options;
  options.draw = draw;
  return model.backward(x, y, options).logits;
}

TEST(ExportedNetwork, DropsByKeyAndPlace) {
  for (const std::string& drop : {dropout_node(), dropout_node(true), depth_nodes()}) {
    const std::string nodes = renamed(dropping_nodes(drop));
    const at::Tensor x = images(8), y = labels(8);
    // Stages in use, so that samples do not see each other through the norm.
    const auto model = make(nodes);
    const auto drawn = [&](const at::Tensor& part, const std::optional<DrawKey>& key) {
      const auto fresh = make(nodes);
      return trained_logits(*fresh, part, y.slice(0, 0, part.size(0)), key);
    };
    const DrawKey key{.seed = 1, .batch = 2};
    EXPECT_TRUE(at::equal(drawn(x, key), drawn(x, key)));
    EXPECT_FALSE(at::equal(drawn(x, key), drawn(x, DrawKey{.seed = 1, .batch = 3})));
    EXPECT_FALSE(at::equal(drawn(x, key), drawn(x, std::nullopt)));
    EXPECT_TRUE(at::equal(model->forward(x), make(nodes)->forward(x)));
  }
}

TEST(ExportedNetwork, InUseStochasticDepthIsNotThere) {
  const at::Tensor x = images();
  EXPECT_TRUE(
      at::equal(make(renamed(dropping_nodes(depth_nodes())))->forward(x), make()->forward(x)));
  EXPECT_TRUE(
      at::equal(make(renamed(dropping_nodes(dropout_node())))->forward(x), make()->forward(x)));
}

// ---- What is refused.

std::string refusal_of(const std::string& nodes) {
  return message_of([&] { static_cast<void>(make(nodes)); });
}

TEST(ExportedNetwork, ArgumentsThatDoNotFitTheSchemaAreRefused) {
  const auto conv = [](const std::string& arguments) {
    return joined({node("torch.ops.aten.conv2d.default", arguments, tensor("conv2d"), "conv"),
                   exported::count_node(), exported::norm_node(), exported::pool_nodes(),
                   exported::head_node()});
  };
  const std::string input = argument("input", tensor("x")),
                    weight = argument("weight", tensor("p_conv_weight"));
  EXPECT_THAT(refusal_of(conv(joined({input, weight, argument("padding", R"({"as_bool":true})")}))),
              HasSubstr("padding"));
  EXPECT_THAT(refusal_of(conv(joined({input, weight, argument("colour", R"({"as_int":1})")}))),
              HasSubstr("colour"));
  EXPECT_THAT(refusal_of(conv(input)), HasSubstr("weight"));
  EXPECT_THAT(refusal_of(conv(joined({input, input, weight}))), HasSubstr("once"));
  EXPECT_THAT(refusal_of(conv(joined({input, argument("weight", R"({"as_none":true})")}))),
              HasSubstr("weight"));
  // The schema allows it, the shapes do not.
  EXPECT_THAT(refusal_of(conv(joined({input, weight, argument("stride", R"({"as_ints":[0,0]})")}))),
              HasSubstr("aten::conv2d"));
}

TEST(ExportedNetwork, MoreMemoryThanThereIsIsRefused) {
  const std::string zeros =
      node("torch.ops.aten.zeros.default", argument("size", R"({"as_ints":[1099511627776,16]})"),
           tensor("zeros"));
  EXPECT_THAT(refusal_of(joined({zeros, exported::good_nodes()})), HasSubstr("memory"));
}

TEST(ExportedNetwork, WeightsCannotBeWrittenByTheGraph) {
  const std::string add = node(
      "torch.ops.aten.add_.Tensor",
      joined({argument("self", tensor("p_conv_weight")), argument("other", R"({"as_int":1})")}),
      tensor("changed"), "conv");
  EXPECT_THAT(refusal_of(joined({add, exported::good_nodes()})), HasSubstr("add_"));
}

TEST(ExportedNetwork, AHeadThatIsNotThereIsNamed) {
  const TempFolder folder;
  const auto path = folder.write("tiny.pt2", exported::good_file());
  EXPECT_THAT(message_of([&] {
                static_cast<void>(make_model(path.string(), kInput, 1, {.head = "classifier"}));
              }),
              HasSubstr("fc"));
  EXPECT_EQ(make_model(path.string(), kInput, 1, {.head = "fc"})->stages().back().name, "fc");
}

}  // namespace
}  // namespace stoker
