#include "stoker/serve/inference_protocol.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "stoker/core/error.h"
#include "stoker/serve/base64.h"

static_assert(std::endian::native == std::endian::little, "binary tensors are little-endian");

namespace stoker {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostSide = 1 << 20;

[[noreturn]] void refuse(std::string what, std::string expected, std::string found) {
  throw Error(
      {.what = std::move(what), .expected = std::move(expected), .found = std::move(found)});
}

const Json* find_member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

bool flag_of(const Json& parameters, const char* name, bool otherwise) {
  const Json* value = parameters.is_object() ? find_member(parameters, name) : nullptr;
  return value != nullptr && value->is_boolean() ? value->get<bool>() : otherwise;
}

Json parameters_of(const Json& object) {
  const Json* found = find_member(object, "parameters");
  return found == nullptr ? Json::object() : *found;
}

std::string string_of(const Json& object, const char* name) {
  const Json* value = find_member(object, name);
  if (value == nullptr || !value->is_string()) {
    refuse("cannot read the request", fmt::format("a text \"{}\"", name), "none");
  }
  return value->get<std::string>();
}

// The sizes of a tensor, whose product is small enough for one request.
std::vector<std::size_t> shape_of(const Json& tensor) {
  const Json* value = find_member(tensor, "shape");
  if (value == nullptr || !value->is_array() || value->empty() || value->size() > 4) {
    refuse("cannot read the tensor", "a shape of 1 to 4 sizes",
           value == nullptr ? "none" : value->dump().substr(0, 100));
  }
  constexpr std::uint64_t kMostValues = std::uint64_t{1} << 32;
  std::vector<std::size_t> shape;
  std::uint64_t product = 1;
  for (const Json& size : *value) {
    if (!size.is_number_unsigned() || size.get<std::uint64_t>() == 0 ||
        size.get<std::uint64_t>() > kMostValues / product) {
      refuse("cannot read the tensor", "sizes above 0", value->dump().substr(0, 100));
    }
    product *= size.get<std::uint64_t>();
    shape.push_back(size.get<std::size_t>());
  }
  return shape;
}

std::size_t values_of(const std::vector<std::size_t>& shape) {
  std::size_t product = 1;
  for (const std::size_t size : shape) product *= size;
  return product;
}

// Numbers may be nested as the shape is.
template <class Value>
void append_numbers(const Json& data, std::vector<Value>& out, std::size_t most, int depth = 0) {
  constexpr int kDeepest = 8;
  for (const Json& item : data) {
    if (item.is_array() && depth < kDeepest) {
      append_numbers(item, out, most, depth + 1);
      continue;
    }
    const bool in_range =
        item.is_number() &&
        (sizeof(Value) > 1 || (item.is_number_integer() && item.get<std::int64_t>() >= 0 &&
                               item.get<std::int64_t>() <= 255));
    if (!in_range) {
      refuse("cannot read the tensor", sizeof(Value) > 1 ? "numbers" : "numbers from 0 to 255",
             item.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 100));
    }
    if (out.size() == most)
      refuse("cannot read the tensor", fmt::format("{} numbers", most), "more");
    out.push_back(item.get<Value>());
  }
}

// What lies behind the JSON, taken piece by piece.
class BinaryData {
 public:
  explicit BinaryData(std::string_view rest) : rest_(rest) {}

  // Of a tensor that says how many bytes it has there; nothing where its data is in the JSON.
  [[nodiscard]] std::optional<std::string_view> take(const Json& tensor) {
    const Json parameters = parameters_of(tensor);
    const Json* size =
        parameters.is_object() ? find_member(parameters, "binary_data_size") : nullptr;
    if (size == nullptr) return std::nullopt;
    if (!size->is_number_unsigned() || size->get<std::uint64_t>() > rest_.size()) {
      refuse("cannot read the tensor",
             fmt::format("at most {} bytes behind the JSON", rest_.size()),
             size->dump().substr(0, 100));
    }
    const std::string_view taken = rest_.substr(0, size->get<std::size_t>());
    rest_.remove_prefix(taken.size());
    return taken;
  }
  [[nodiscard]] bool empty() const noexcept { return rest_.empty(); }

 private:
  std::string_view rest_;
};

template <class Value>
std::vector<Value> numbers_of(const Json& tensor, std::optional<std::string_view> binary,
                              std::size_t count) {
  std::vector<Value> values;
  if (binary) {
    if (binary->size() != count * sizeof(Value)) {
      refuse("cannot read the tensor", fmt::format("{} bytes", count * sizeof(Value)),
             fmt::format("{}", binary->size()));
    }
    values.resize(count);
    std::memcpy(values.data(), binary->data(), binary->size());
    return values;
  }
  const Json* data = find_member(tensor, "data");
  if (data == nullptr || !data->is_array()) {
    refuse("cannot read the tensor", "\"data\", a list", "none");
  }
  append_numbers(*data, values, count);
  if (values.size() != count) {
    refuse("cannot read the tensor", fmt::format("{} numbers", count),
           fmt::format("{}", values.size()));
  }
  return values;
}

// Each has its length before it, in four bytes.
std::vector<std::string> binary_texts(std::string_view binary) {
  std::vector<std::string> texts;
  while (!binary.empty()) {
    std::uint32_t length = 0;
    if (binary.size() >= sizeof(length)) std::memcpy(&length, binary.data(), sizeof(length));
    if (binary.size() < sizeof(length) || length > binary.size() - sizeof(length)) {
      refuse("cannot read the tensor", "a length before each element", "the end of the data");
    }
    texts.emplace_back(binary.substr(sizeof(length), length));
    binary.remove_prefix(sizeof(length) + length);
  }
  return texts;
}

std::vector<std::string> json_images(const Json& tensor) {
  const Json* data = find_member(tensor, "data");
  if (data == nullptr || !data->is_array()) {
    refuse("cannot read the tensor", "\"data\", a list", "none");
  }
  std::vector<std::string> images;
  for (const Json& item : *data) {
    std::optional<std::string> bytes;
    if (item.is_string()) bytes = decode_base64(item.get_ref<const std::string&>());
    if (!bytes) refuse("cannot read the tensor", "images as base64", "something else");
    images.push_back(std::move(*bytes));
  }
  return images;
}

void read_encoded(InferenceRequest& request, const Json& tensor,
                  const std::vector<std::size_t>& shape, BinaryData& binary) {
  const auto bytes = binary.take(tensor);
  request.encoded = bytes ? binary_texts(*bytes) : json_images(tensor);
  request.images = request.encoded.size();
  if (values_of(shape) != request.images) {
    refuse("cannot read the tensor", fmt::format("{} images, as its shape says", values_of(shape)),
           fmt::format("{}", request.images));
  }
}

void read_pixels(InferenceRequest& request, const Json& tensor, std::vector<std::size_t> shape,
                 BinaryData& binary) {
  if (shape.size() == 3) shape.insert(shape.begin(), 1);
  const bool fits = shape.size() == 4 && shape[1] <= kMostSide && shape[2] <= kMostSide &&
                    (shape[3] == 1 || shape[3] == 3 || shape[3] == 4);
  if (!fits) {
    refuse("cannot use the tensor \"pixels\"", "the shape [images, height, width, channels]",
           fmt::format("[{}]", fmt::join(shape, ",")));
  }
  request.images = shape[0];
  request.height = static_cast<int>(shape[1]);
  request.width = static_cast<int>(shape[2]);
  request.channels = static_cast<int>(shape[3]);
  request.pixels = numbers_of<std::uint8_t>(tensor, binary.take(tensor), values_of(shape));
}

void read_values(InferenceRequest& request, const Json& tensor,
                 const std::vector<std::size_t>& shape, BinaryData& binary,
                 const ClassifierInput& input) {
  const std::vector<std::size_t> wanted = {static_cast<std::size_t>(input.channels),
                                           static_cast<std::size_t>(input.height),
                                           static_cast<std::size_t>(input.width)};
  if (shape.size() != 4 || !std::equal(wanted.begin(), wanted.end(), shape.begin() + 1)) {
    refuse("cannot use the tensor \"values\"",
           fmt::format("the shape [images,{}]", fmt::join(wanted, ",")),
           fmt::format("[{}]", fmt::join(shape, ",")));
  }
  request.images = shape[0];
  request.values = numbers_of<float>(tensor, binary.take(tensor), values_of(shape));
}

void read_input(InferenceRequest& request, const Json& tensor, BinaryData& binary,
                const InferenceLimits& limits) {
  const std::string name = string_of(tensor, "name"), type = string_of(tensor, "datatype");
  const std::vector<std::size_t> shape = shape_of(tensor);
  if (shape.front() > limits.max_images && shape.size() != 3) {
    refuse("too many images in one request", fmt::format("at most {}", limits.max_images),
           fmt::format("{}", shape.front()));
  }
  if (name == "image" && type == "BYTES") {
    request.kind = InferenceKind::kEncoded;
    read_encoded(request, tensor, shape, binary);
  } else if (name == "pixels" && type == "UINT8") {
    request.kind = InferenceKind::kPixels;
    read_pixels(request, tensor, shape, binary);
  } else if (name == "values" && type == "FP32") {
    request.kind = InferenceKind::kValues;
    read_values(request, tensor, shape, binary, limits.input);
  } else {
    refuse("the model has no such input", "image (BYTES), pixels (UINT8) or values (FP32)",
           fmt::format("{} ({})", name.substr(0, 100), type.substr(0, 100)));
  }
}

constexpr std::array<std::string_view, 3> kOutputs = {"probabilities", "class", "label"};

void read_outputs(InferenceRequest& request, const Json& json) {
  const bool binary = flag_of(parameters_of(json), "binary_data_output", false);
  const Json* wanted = find_member(json, "outputs");
  if (wanted == nullptr || !wanted->is_array() || wanted->empty()) {
    for (const std::string_view name : kOutputs) {
      request.outputs.push_back({std::string(name), binary});
    }
    return;
  }
  for (const Json& output : *wanted) {
    const std::string name = output.is_object() ? string_of(output, "name") : "";
    if (std::ranges::find(kOutputs, name) == kOutputs.end() || request.outputs.size() == 8) {
      refuse("the model has no such output", "probabilities, class or label", name.substr(0, 100));
    }
    const Json parameters = parameters_of(output);
    if (parameters.is_object() && find_member(parameters, "classification") != nullptr) {
      refuse("cannot give the output in this form", "no parameter \"classification\"",
             "one; `label` has the most probable class");
    }
    request.outputs.push_back({name, flag_of(parameters, "binary_data", binary)});
  }
}

std::size_t parse_json_bytes(std::string_view text, std::size_t body) {
  if (text.empty()) return body;
  std::size_t bytes = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size() || bytes > body) {
    refuse("cannot read the request",
           fmt::format("Inference-Header-Content-Length of at most {}", body),
           std::string(text.substr(0, 100)));
  }
  return bytes;
}

// One output: its description, and its values in the JSON or behind it.
class AnswerWriter {
 public:
  void add(const InferenceOutput& output, const char* type, const std::vector<std::size_t>& shape,
           const std::string& bytes, Json data) {
    Json described = {{"name", output.name}, {"datatype", type}, {"shape", shape}};
    if (output.binary) {
      described["parameters"] = {{"binary_data_size", bytes.size()}};
      binary_ += bytes;
      has_binary_ = true;
    } else {
      described["data"] = std::move(data);
    }
    outputs_.push_back(std::move(described));
  }
  [[nodiscard]] InferenceAnswer finished(Json head) {
    head["outputs"] = std::move(outputs_);
    std::string text = head.dump(-1, ' ', false, Json::error_handler_t::replace);
    const std::size_t bytes = text.size();
    return {.body = text + binary_, .json_bytes = has_binary_ ? bytes : 0};
  }

 private:
  Json outputs_ = Json::array();
  std::string binary_;
  bool has_binary_ = false;
};

template <class Value>
void append_bytes(std::string& out, const Value& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void add_probabilities(AnswerWriter& writer, const InferenceOutput& output, std::size_t classes,
                       const std::vector<Classification>& found) {
  std::string bytes;
  Json data = Json::array();
  for (const Classification& image : found) {
    for (const float value : image.probabilities) {
      if (output.binary)
        append_bytes(bytes, value);
      else
        data.push_back(value);
    }
  }
  writer.add(output, "FP32", {found.size(), classes}, bytes, std::move(data));
}

void add_classes(AnswerWriter& writer, const InferenceOutput& output,
                 const std::vector<Classification>& found) {
  std::string bytes;
  Json data = Json::array();
  for (const Classification& image : found) {
    append_bytes(bytes, static_cast<std::int64_t>(image.best));
    data.push_back(image.best);
  }
  writer.add(output, "INT64", {found.size()}, bytes, std::move(data));
}

void add_labels(AnswerWriter& writer, const InferenceOutput& output,
                const std::vector<Classification>& found) {
  std::string bytes;
  Json data = Json::array();
  for (const Classification& image : found) {
    append_bytes(bytes, static_cast<std::uint32_t>(image.label.size()));
    bytes += image.label;
    data.push_back(image.label);
  }
  writer.add(output, "BYTES", {found.size()}, bytes, std::move(data));
}

}  // namespace

InferenceRequest parse_inference(std::string_view body, std::string_view json_bytes,
                                 const InferenceLimits& limits) {
  const std::size_t json_size = parse_json_bytes(json_bytes, body.size());
  const Json json = Json::parse(body.substr(0, json_size), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) refuse("cannot read the request", "a JSON object", "something else");
  InferenceRequest request;
  if (find_member(json, "id") != nullptr) request.id = string_of(json, "id").substr(0, 1000);
  const Json* inputs = find_member(json, "inputs");
  if (inputs == nullptr || !inputs->is_array() || inputs->size() != 1 ||
      !inputs->front().is_object()) {
    refuse("cannot read the request", "\"inputs\" with one tensor",
           inputs == nullptr ? "none" : fmt::format("{}", inputs->size()));
  }
  BinaryData binary(body.substr(json_size));
  read_input(request, inputs->front(), binary, limits);
  if (!binary.empty()) refuse("cannot read the request", "no more bytes than tensors have", "more");
  read_outputs(request, json);
  return request;
}

InferenceAnswer inference_answer(const InferenceModel& model, const InferenceRequest& request,
                                 const std::vector<Classification>& found) {
  AnswerWriter writer;
  for (const InferenceOutput& output : request.outputs) {
    if (output.name == "probabilities") {
      add_probabilities(writer, output, model.class_names.size(), found);
    } else if (output.name == "class") {
      add_classes(writer, output, found);
    } else {
      add_labels(writer, output, found);
    }
  }
  Json head = {{"model_name", model.name}, {"model_version", "1"}};
  if (!request.id.empty()) head["id"] = request.id;
  return writer.finished(std::move(head));
}

std::string server_metadata(const std::string& version) {
  const Json json = {
      {"name", "stoker"}, {"version", version}, {"extensions", {"binary_tensor_data"}}};
  return json.dump();
}

std::string model_metadata(const InferenceModel& model) {
  const ClassifierInput& in = model.input;
  const auto tensor = [](const char* name, const char* type, std::vector<std::int64_t> shape) {
    return Json{{"name", name}, {"datatype", type}, {"shape", std::move(shape)}};
  };
  const Json json = {
      {"name", model.name},
      {"versions", {"1"}},
      {"platform", "stoker"},
      {"inputs",
       {tensor("image", "BYTES", {-1}), tensor("pixels", "UINT8", {-1, -1, -1, -1}),
        tensor("values", "FP32", {-1, in.channels, in.height, in.width})}},
      {"outputs",
       {tensor("probabilities", "FP32", {-1, static_cast<std::int64_t>(model.class_names.size())}),
        tensor("class", "INT64", {-1}), tensor("label", "BYTES", {-1})}},
      {"parameters", {{"classes", model.class_names}}}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace stoker
