#include "stoker/nn/networks/registry.h"

#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/nn/networks/mlp.h"

namespace stoker {
namespace {

const ModelInput kMnist = {.image = {.height = 28, .width = 28, .channels = 1}, .classes = 10};

TEST(ModelRegistry, ReadsBackTheNameOfEveryModelItMakes) {
  for (const char* name :
       {"mlp:784,128,10", "mlp:784,256,64,10:relu", "mlp:784,128,64,10:sigmoid:sigmoid",
        "mlp:784,10:relu:sigmoid", "cnn:small", "cnn:16,32,64"}) {
    const auto model = make_model(name, kMnist, 1);
    EXPECT_EQ(model->architecture(), name);
    EXPECT_EQ(model->input(), kMnist);
    EXPECT_GT(model->multiply_adds(), 0);
  }
}

TEST(ModelRegistry, KnowsTorchvisionsNetworksByTheirNames) {
  const ModelInput photographs = {.image = {.height = 32, .width = 40, .channels = 3},
                                  .classes = 7};
  for (const char* name : {"resnet18", "resnet34", "resnet50", "resnet101", "mobilenet_v2"}) {
    const auto model = make_model(name, photographs, 1);
    EXPECT_EQ(model->architecture(), name);
    EXPECT_EQ(model->input(), photographs);
  }
}

TEST(ModelRegistry, SigmoidIsThePerceptronsDefault) {
  EXPECT_EQ(dynamic_cast<Mlp&>(*make_model("mlp:784,10", kMnist, 1)).activation(),
            Activation::kSigmoid);
  EXPECT_EQ(make_model("mlp:784,10:sigmoid", kMnist, 1)->architecture(), "mlp:784,10");
}

TEST(ModelRegistry, TheOutputsActivationIsPartOfThePerceptronsName) {
  const auto output = [](const char* name) {
    return dynamic_cast<Mlp&>(*make_model(name, kMnist, 1)).output();
  };
  EXPECT_EQ(output("mlp:784,10:sigmoid"), OutputActivation::kSoftmax);
  EXPECT_EQ(output("mlp:784,10:sigmoid:softmax"), OutputActivation::kSoftmax);
  EXPECT_EQ(output("mlp:784,10:sigmoid:sigmoid"), OutputActivation::kSigmoid);
  EXPECT_EQ(make_model("mlp:784,10:relu:softmax", kMnist, 1)->architecture(), "mlp:784,10:relu");
  for (const char* wrong : {"mlp:784,10:sigmoid:relu", "mlp:784,10:sigmoid:sigmoid:sigmoid",
                            "mlp:784,10:sigmoid:", "mlp:784,10::sigmoid"}) {
    EXPECT_THROW(static_cast<void>(make_model(wrong, kMnist, 1)), Error) << wrong;
  }
}

TEST(ModelRegistry, WrongNamesSayWhatWouldBeRight) {
  const auto message = [](const char* name) {
    return message_of([&] { static_cast<void>(make_model(name, kMnist, 1)); });
  };
  EXPECT_NE(message("mpl:784,10").find("Did you mean mlp?"), std::string::npos);
  EXPECT_NE(message("resnet").find("cnn:small"), std::string::npos);
  EXPECT_NE(message("resnet19").find("Did you mean resnet18?"), std::string::npos);
  EXPECT_NE(message("resnet18:small").find("Expected resnet18"), std::string::npos);
  EXPECT_NE(message("resnet18").find("at least 32x32x3"), std::string::npos);
  EXPECT_NE(message("mobilenet_v2").find("got 28x28x1"), std::string::npos);
  EXPECT_NE(message("mlp:784,ten").find("mlp:SIZE"), std::string::npos);
  EXPECT_NE(message("mlp:784,,10").find("mlp:SIZE"), std::string::npos);
  EXPECT_NE(message("mlp:784,128,10:tanh").find(":relu"), std::string::npos);
  EXPECT_NE(message("mlp:100,128,10").find("Write mlp:784,128,10"), std::string::npos);
  EXPECT_NE(message("mlp:784,128,9").find("Write mlp:784,128,10"), std::string::npos);
  EXPECT_NE(message("mlp:784,99999999999999999999,10").find("mlp:SIZE"), std::string::npos);
  EXPECT_NE(message("cnn:1,2,3,4,5,6").find("halved"), std::string::npos);
  EXPECT_NE(message("cnn:").find("cnn:small"), std::string::npos);
}

}  // namespace
}  // namespace stoker
