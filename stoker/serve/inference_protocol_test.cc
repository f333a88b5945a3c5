#include "stoker/serve/inference_protocol.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

const InferenceLimits kLimits{.input = {.height = 1, .width = 2, .channels = 3}, .max_images = 4};

InferenceRequest parsed(const Json& json, const std::string& binary = "") {
  const std::string text = json.dump();
  const std::string length = binary.empty() ? "" : std::to_string(text.size());
  return parse_inference(text + binary, length, kLimits);
}

Json request_with(const Json& tensor) { return {{"inputs", {tensor}}}; }

TEST(InferenceProtocol, ReadsImagesFromJsonAndBehindIt) {
  const Json tensor = {
      {"name", "image"}, {"datatype", "BYTES"}, {"shape", {2}}, {"data", {"Zm9v", "Zg=="}}};
  const InferenceRequest request = parsed(request_with(tensor));
  EXPECT_EQ(request.kind, InferenceKind::kEncoded);
  EXPECT_THAT(request.encoded, testing::ElementsAre("foo", "f"));
  ASSERT_EQ(request.outputs.size(), 3U);
  EXPECT_FALSE(request.outputs[0].binary);
  const std::string binary("\3\0\0\0foo\1\0\0\0f", 12);
  const Json behind = {{"name", "image"},
                       {"datatype", "BYTES"},
                       {"shape", {2}},
                       {"parameters", {{"binary_data_size", 12}}}};
  EXPECT_THAT(parsed(request_with(behind), binary).encoded, testing::ElementsAre("foo", "f"));
}

TEST(InferenceProtocol, ReadsPixelsAndValues) {
  const Json pixels = {{"name", "pixels"},
                       {"datatype", "UINT8"},
                       {"shape", {1, 2, 3}},
                       {"data", {{{1, 2, 3}, {4, 5, 255}}}}};
  const InferenceRequest of_pixels = parsed(request_with(pixels));
  EXPECT_EQ(of_pixels.images, 1U);
  EXPECT_EQ(of_pixels.width, 2);
  EXPECT_THAT(of_pixels.pixels, testing::ElementsAre(1, 2, 3, 4, 5, 255));
  const std::vector<float> numbers = {1, -2, 3.5, 4, 5, 6};
  std::string binary(24, '\0');
  std::memcpy(binary.data(), numbers.data(), 24);
  Json values = {
      {"name", "values"}, {"datatype", "FP32"}, {"shape", {1, 3, 1, 2}}, {"data", numbers}};
  EXPECT_EQ(parsed(request_with(values)).values, numbers);
  values.erase("data");
  values["parameters"] = {{"binary_data_size", 24}};
  EXPECT_EQ(parsed(request_with(values), binary).values, numbers);
}

TEST(InferenceProtocol, AnswersInJsonAndBehindIt) {
  Classification cat;
  cat.label = "cat";
  cat.probabilities = {0.25, 0.75};
  cat.best = 1;
  const InferenceModel model{.name = "m", .class_names = {"ant", "cat"}, .input = kLimits.input};
  InferenceRequest request{.id = "7", .images = 1};
  request.outputs = {{"probabilities", false}, {"class", false}, {"label", false}};
  const Json json = Json::parse(inference_answer(model, request, {cat}).body);
  EXPECT_EQ(json["model_name"], "m");
  EXPECT_EQ(json["id"], "7");
  EXPECT_EQ(json["outputs"][0]["data"], Json({0.25, 0.75}));
  EXPECT_EQ(json["outputs"][0]["shape"], Json({1, 2}));
  EXPECT_EQ(json["outputs"][1]["data"], Json({1}));
  EXPECT_EQ(json["outputs"][2]["data"], Json({"cat"}));
  request.outputs = {{"label", true}, {"probabilities", true}};
  const InferenceAnswer binary = inference_answer(model, request, {cat});
  const Json head = Json::parse(binary.body.substr(0, binary.json_bytes));
  EXPECT_EQ(head["outputs"][0]["parameters"]["binary_data_size"], 7);
  EXPECT_EQ(binary.body.substr(binary.json_bytes, 7), std::string("\3\0\0\0cat", 7));
  float second = 0;
  std::memcpy(&second, binary.body.data() + binary.json_bytes + 7 + 4, 4);
  EXPECT_EQ(second, 0.75F);
}

TEST(InferenceProtocol, RefusesWhatIsWrong) {
  const Json image = {{"name", "image"}, {"datatype", "BYTES"}, {"shape", {1}}, {"data", {"Zm9v"}}};
  const auto changed = [&](const char* key, const Json& value) {
    Json tensor = image;
    tensor[key] = value;
    return request_with(tensor);
  };
  const Json wrong[] = {Json::array(),
                        Json::object(),
                        {{"inputs", Json::array()}},
                        {{"inputs", {image, image}}},
                        {{"inputs", {3}}},
                        changed("name", "nothing"),
                        changed("name", 3),
                        changed("datatype", "FP32"),
                        changed("shape", {5}),
                        changed("shape", {2}),
                        changed("shape", {-1}),
                        changed("shape", {0}),
                        changed("shape", Json::array()),
                        changed("shape", {1ULL << 40, 1ULL << 40}),
                        changed("data", {"Zm9"}),
                        changed("data", {3}),
                        changed("data", "Zm9v"),
                        changed("parameters", {{"binary_data_size", 1}}),
                        changed("parameters", {{"binary_data_size", -1}})};
  for (const Json& json : wrong) EXPECT_THROW(parsed(json), Error) << json;
  Json outputs = request_with(image);
  outputs["outputs"] = {{{"name", "nothing"}}};
  EXPECT_THROW(parsed(outputs), Error);
  outputs["outputs"] = {{{"name", "label"}, {"parameters", {{"classification", 3}}}}};
  EXPECT_THROW(parsed(outputs), Error);
  EXPECT_THROW(static_cast<void>(parse_inference("{}", "3", kLimits)), Error);
  EXPECT_THROW(static_cast<void>(parse_inference("{}", "-1", kLimits)), Error);
  EXPECT_THROW(static_cast<void>(parse_inference("{", "", kLimits)), Error);
  EXPECT_THROW(static_cast<void>(parse_inference(std::string(100'000, '['), "", kLimits)), Error);
}

TEST(InferenceProtocol, RefusesNumbersThatDoNotFit) {
  const auto pixels = [](const Json& data, const Json& shape = {1, 2, 1}) {
    return request_with(
        {{"name", "pixels"}, {"datatype", "UINT8"}, {"shape", shape}, {"data", data}});
  };
  EXPECT_NO_THROW(parsed(pixels({1, 2})));
  for (const Json& data : {Json({1}), Json({1, 2, 3}), Json({1, 256}), Json({1, -1}),
                           Json({1, 2.5}), Json({1, "2"}), Json({1, nullptr})}) {
    EXPECT_THROW(parsed(pixels(data)), Error) << data;
  }
  EXPECT_THROW(parsed(pixels({1, 2}, {1, 1, 2})), Error);
  EXPECT_THROW(parsed(pixels({1, 2}, {2})), Error);
  // Bytes behind the JSON that nobody asked for, or too few.
  EXPECT_THROW(parsed(pixels({1, 2}), "x"), Error);
  Json behind = pixels(Json::array());
  behind["inputs"][0]["parameters"] = {{"binary_data_size", 1}};
  EXPECT_THROW(parsed(behind, "x"), Error);
}

TEST(InferenceProtocol, DescribesTheModel) {
  const InferenceModel model{.name = "m", .class_names = {"ant", "cat"}, .input = kLimits.input};
  const Json json = Json::parse(model_metadata(model));
  EXPECT_EQ(json["inputs"][2]["shape"], Json({-1, 3, 1, 2}));
  EXPECT_EQ(json["outputs"][0]["shape"], Json({-1, 2}));
  EXPECT_EQ(Json::parse(server_metadata("1.2"))["version"], "1.2");
}

TEST(InferenceProtocol, SaysWhatATensorDoesNotHold) {
  const Json pixels = {
      {"name", "pixels"}, {"datatype", "UINT8"}, {"shape", {1, 2, 1}}, {"data", "AQI="}};
  EXPECT_THAT(message_of([&] { parsed(request_with(pixels)); }),
              testing::HasSubstr("\"data\", a list"));
  const Json images = {{"name", "image"},
                       {"datatype", "BYTES"},
                       {"shape", {1}},
                       {"parameters", {{"binary_data_size", 5}}}};
  EXPECT_THAT(message_of([&] { parsed(request_with(images), std::string("\3\0\0\0f", 5)); }),
              testing::HasSubstr("a length before each element"));
  const Json values = {{"name", "values"},
                       {"datatype", "FP32"},
                       {"shape", {1, 3, 2, 1}},
                       {"data", {1, 2, 3, 4, 5, 6}}};
  EXPECT_THAT(
      message_of([&] { parsed(request_with(values)); }),
      testing::AllOf(testing::HasSubstr("[images,3,1,2]"), testing::HasSubstr("[1,3,2,1]")));
}

}  // namespace
}  // namespace stoker
