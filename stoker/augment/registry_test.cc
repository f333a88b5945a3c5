#include "stoker/augment/registry.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/augment/policy.h"
#include "stoker/augment/presets.h"
#include "stoker/core/error.h"

namespace stoker {
namespace {

TEST(Registry, EveryOperationIsFullyDescribedAndItsExampleWorks) {
  std::set<std::string> names;
  for (const OperationSchema& operation : builtin_operations()) {
    EXPECT_TRUE(names.insert(operation.name).second) << operation.name << " twice";
    EXPECT_FALSE(operation.summary.empty());
    for (const ParameterSchema& parameter : operation.parameters) {
      EXPECT_FALSE(parameter.meaning.empty());
      EXPECT_LT(parameter.minimum, parameter.maximum);
    }
    // The text also names the values that the example leaves to their defaults.
    const std::string given = operation.example.substr(0, operation.example.size() - 1);
    EXPECT_THAT(Policy::parse(operation.example).text(), testing::StartsWith(given));
  }
}

TEST(Registry, EveryPresetIsAPolicy) {
  for (const Preset& preset : builtin_presets()) {
    EXPECT_EQ(Policy::parse(preset.name).text(), Policy::parse(preset.policy).text())
        << preset.name;
  }
}

TEST(Registry, AWrongNameGetsTheKnownOnesAndTheNearest) {
  try {
    static_cast<void>(find_operation("rotat"));
    FAIL() << "found";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("shift"));
    EXPECT_THAT(error.what(), testing::HasSubstr("Did you mean rotate?"));
  }
}

}  // namespace
}  // namespace stoker
