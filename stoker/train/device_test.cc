#include "stoker/train/device.h"

#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

const CudaProbe kNone = {.devices = 0, .reason = "no NVIDIA driver"};
const CudaProbe kTwo = {.devices = 2, .reason = "2 CUDA devices"};

TEST(Device, AutoTakesCudaWhereThereIsOneAndSaysWhyNot) {
  EXPECT_TRUE(choose_device("auto", kNone).device.is_cpu());
  EXPECT_EQ(choose_device("auto", kNone).reason, "no NVIDIA driver");
  EXPECT_EQ(choose_device("auto", kTwo).device.str(), "cuda:0");
}

TEST(Device, AFlagOverridesIt) {
  EXPECT_TRUE(choose_device("cpu", kTwo).device.is_cpu());
  EXPECT_EQ(choose_device("cuda:1", kTwo).device.str(), "cuda:1");
  EXPECT_EQ(choose_device("cuda", kTwo).device.str(), "cuda:0");
}

TEST(Device, WhatIsNotThereIsAnErrorThatSaysWhatIs) {
  const auto message = [](const char* wanted, const CudaProbe& probe) {
    return message_of([&] { static_cast<void>(choose_device(wanted, probe)); });
  };
  EXPECT_NE(message("cuda", kNone).find("no NVIDIA driver"), std::string::npos);
  EXPECT_NE(message("cuda:2", kTwo).find("2 CUDA devices"), std::string::npos);
  for (const char* wrong : {"gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", ""}) {
    EXPECT_NE(message(wrong, kTwo).find("auto, cpu, cuda"), std::string::npos) << wrong;
  }
}

// Whatever this machine has, asking must not fail.
TEST(Device, TheRealProbeAnswers) { EXPECT_FALSE(probe_cuda().reason.empty()); }

}  // namespace
}  // namespace stoker
