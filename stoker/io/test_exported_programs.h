// What the tests of exported networks share: a small network as torch.export writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/io/test_torch_files.h"

namespace stoker::exported {

// A node by its operator, arguments ("name": argument, separated by commas), result and module.
inline std::string node(std::string_view target, std::string_view arguments,
                        std::string_view result, std::string_view module = "") {
  return fmt::format(
      R"({{"target":"{}","inputs":[{}],"outputs":[{}],"metadata":{{"nn_module_stack":"L,,Net;M,{},T","stack_trace":"secret.py"}}}})",
      target, arguments, result, module);
}
inline std::string argument(std::string_view name, std::string_view value) {
  return fmt::format(R"({{"name":"{}","arg":{},"kind":1}})", name, value);
}
inline std::string tensor(std::string_view name) {
  return fmt::format(R"({{"as_tensor":{{"name":"{}"}}}})", name);
}
inline std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ","));
}

inline std::string conv_node(std::string_view target = "torch.ops.aten.conv2d.default",
                             std::string_view input = "x") {
  return node(target,
              joined({argument("input", tensor(input)), argument("weight", tensor("p_conv_weight")),
                      argument("bias", R"({"as_none":true})"),
                      argument("padding", R"({"as_ints":[1,1]})")}),
              tensor("conv2d"), "conv");
}
inline std::string norm_node() {
  return node(
      "torch.ops.aten.batch_norm.default",
      joined({argument("input", tensor("conv2d")), argument("weight", tensor("p_bn_weight")),
              argument("bias", tensor("p_bn_bias")),
              argument("running_mean", tensor("b_bn_running_mean")),
              argument("running_var", tensor("b_bn_running_var")),
              argument("training", R"({"as_bool":true})"),
              argument("momentum", R"({"as_float":0.1})"), argument("eps", R"({"as_float":1e-05})"),
              argument("cudnn_enabled", R"({"as_bool":false})")}),
      tensor("batch_norm"), "bn");
}
inline std::string count_node() {
  return node(
      "torch.ops.aten.add_.Tensor",
      joined({argument("self", tensor("b_bn_count")), argument("other", R"({"as_int":1})")}),
      tensor("add_"), "bn");
}
inline std::string pool_nodes() {
  return joined(
      {node("torch.ops.aten.relu_.default", argument("self", tensor("batch_norm")),
            tensor("relu_")),
       node("torch.ops.aten.adaptive_avg_pool2d.default",
            joined({argument("self", tensor("relu_")),
                    argument("output_size", R"({"as_ints":[1,1]})")}),
            tensor("pool")),
       node("torch.ops.aten.flatten.using_ints",
            joined({argument("self", tensor("pool")), argument("start_dim", R"({"as_int":1})")}),
            tensor("flat"))});
}
inline std::string head_node(std::string_view input = "flat") {
  return node("torch.ops.aten.linear.default",
              joined({argument("input", tensor(input)), argument("weight", tensor("p_fc_weight")),
                      argument("bias", tensor("p_fc_bias"))}),
              tensor("linear"), "fc");
}
inline std::string good_nodes() {
  return joined({conv_node(), count_node(), norm_node(), pool_nodes(), head_node()});
}

inline std::string parameter(std::string_view graph_name, std::string_view name) {
  return fmt::format(R"({{"parameter":{{"arg":{{"name":"{}"}},"parameter_name":"{}"}}}})",
                     graph_name, name);
}
inline std::string buffer(std::string_view graph_name, std::string_view name) {
  return fmt::format(
      R"({{"buffer":{{"arg":{{"name":"{}"}},"buffer_name":"{}","persistent":true}}}})", graph_name,
      name);
}
inline std::string good_inputs() {
  return joined({parameter("p_conv_weight", "conv.weight"), parameter("p_bn_weight", "bn.weight"),
                 parameter("p_bn_bias", "bn.bias"), parameter("p_fc_weight", "fc.weight"),
                 parameter("p_fc_bias", "fc.bias"), buffer("b_bn_running_mean", "bn.running_mean"),
                 buffer("b_bn_running_var", "bn.running_var"),
                 buffer("b_bn_count", "bn.num_batches_tracked"),
                 R"({"user_input":{"arg":{"as_tensor":{"name":"x"}}}})"});
}

inline std::string model_json(const std::string& nodes = good_nodes(),
                              const std::string& inputs = good_inputs(),
                              std::string_view output = "linear") {
  return fmt::format(
      R"({{"graph_module":{{"graph":{{"nodes":[{}]}},"signature":{{"input_specs":[{}],"output_specs":[{{"user_output":{{"arg":{}}}}}]}}}},"guards_code":["secret"]}})",
      nodes, inputs, tensor(output));
}

// A tensor's line of model_weights_config.json.
inline std::string weight_line(std::string_view name, std::string_view path, std::string_view sizes,
                               std::string_view strides, int type = 7, bool pickled = false) {
  return fmt::format(
      R"("{}":{{"path_name":"{}","is_param":true,"use_pickle":{},"tensor_meta":{{"dtype":{},"sizes":{},"strides":{},"storage_offset":{{"as_int":0}}}}}})",
      name, path, pickled, type, sizes, strides);
}
inline std::string ints(const std::vector<std::int64_t>& values) {
  std::vector<std::string> items;
  for (const std::int64_t value : values) items.push_back(fmt::format(R"({{"as_int":{}}})", value));
  return "[" + joined(items) + "]";
}
inline std::vector<std::string> good_weights() {
  return {weight_line("conv.weight", "w0", ints({4, 3, 3, 3}), ints({27, 9, 3, 1})),
          weight_line("bn.weight", "w1", ints({4}), ints({1})),
          weight_line("bn.bias", "w2", ints({4}), ints({1})),
          weight_line("fc.weight", "w3", ints({5, 4}), ints({4, 1})),
          weight_line("fc.bias", "w4", ints({5}), ints({1})),
          weight_line("bn.running_mean", "w5", ints({4}), ints({1})),
          weight_line("bn.running_var", "w6", ints({4}), ints({1})),
          weight_line("bn.num_batches_tracked", "w7", "[]", "[]", /*type=*/5)};
}

inline std::string floats(std::size_t count, float first = 0.1F) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(first + 0.01F * static_cast<float>(i));
  return {reinterpret_cast<const char*>(values.data()), 4 * count};
}

using Records = std::vector<std::pair<std::string, std::string>>;
inline Records good_records(const std::string& json = model_json(),
                            const std::vector<std::string>& weights = good_weights()) {
  return {{"net/models/model.json", json},
          {"net/data/weights/model_weights_config.json",
           fmt::format(R"({{"config":{{{}}}}})", joined(weights))},
          {"net/data/weights/w0", floats(108)},
          {"net/data/weights/w1", floats(4, 1)},
          {"net/data/weights/w2", floats(4)},
          {"net/data/weights/w3", floats(20)},
          {"net/data/weights/w4", floats(5)},
          {"net/data/weights/w5", floats(4)},
          {"net/data/weights/w6", floats(4, 1)},
          {"net/data/weights/w7", std::string(8, '\0')},
          {"net/byteorder", "little"},
          {"net/extra/stoker.json", R"({"name":"tiny","size":[8,8]})"},
          {"net/data/sample_inputs/model.pt", "a pickle that nobody opens"}};
}
inline Bytes good_file() { return pickles::zip_of(good_records()); }

}  // namespace stoker::exported
