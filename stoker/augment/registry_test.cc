#include "stoker/augment/registry.h"

#include <algorithm>
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

// Adds a level to every value.
class Lighten final : public PixelOperation {
 public:
  explicit Lighten(int levels) : levels_(levels) {}
  void apply(const MutableImageView& image, Rng&, const RngStream&,
             AugmentScratch&) const override {
    for (std::size_t i = 0; i < image.shape.bytes(); ++i) {
      image.data[i] = static_cast<std::uint8_t>(std::min(255, image.data[i] + levels_));
    }
  }

 private:
  int levels_;
};

OperationSchema lighten_schema(std::string name) {
  return {.name = std::move(name),
          .summary = "adds levels",
          .parameters = {{.name = "levels", .meaning = "added", .minimum = 0, .maximum = 255}},
          .example = "lighten(10)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<Lighten>(static_cast<int>(a[0]));
          }};
}

TEST(Registry, ARegisteredOperationIsUsedInPoliciesAsTheBuiltInOnes) {
  EXPECT_THROW(static_cast<void>(Policy::parse("lighten(10)")), Error);
  register_operation(lighten_schema("lighten"));
  EXPECT_EQ(registered_operations().back(), &find_operation("lighten"));
  const Policy policy = Policy::parse("lighten(10),invert(1)");
  EXPECT_EQ(policy.text(), "lighten(10),invert(1)");
  EXPECT_EQ(policy.apply(Image({.height = 2, .width = 3}).view(), {}).at(1, 2), 245);
  EXPECT_THROW(static_cast<void>(Policy::parse("lighten(256)")), Error);
}

TEST(Registry, ASchemaThatCannotWorkIsRefused) {
  const auto refused = [](const OperationSchema& schema, const std::string& reason) {
    try {
      register_operation(schema);
      FAIL() << "registered " << schema.name;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(reason));
    }
  };
  refused(lighten_schema("rotate"), "an operation of this name");
  refused(lighten_schema("mnist"), "a preset of this name");
  refused(lighten_schema("Light en"), "a-z");
  refused(lighten_schema(""), "a-z");
  OperationSchema schema = lighten_schema("lighten2");
  schema.parameters[0].default_value = 256;
  refused(schema, "a default value of levels from 0 to 255");
  schema.parameters[0] = {.name = "levels", .meaning = "added", .minimum = 1, .maximum = 0};
  refused(schema, "minimum <= maximum");
  schema.parameters[0] = {.name = "", .meaning = "added", .minimum = 0, .maximum = 1};
  refused(schema, "a name for each parameter");
  schema = lighten_schema("lighten2");
  schema.make = nullptr;
  refused(schema, "a function that makes it");
  EXPECT_THROW(static_cast<void>(find_operation("lighten2")), Error);
}

TEST(Registry, WhatARegisteredOperationMakesMustBeOfAKnownKind) {
  OperationSchema schema = lighten_schema("makes-nothing");
  schema.make = [](std::span<const double>) { return std::unique_ptr<const Operation>(); };
  register_operation(schema);
  EXPECT_THROW(static_cast<void>(Policy::parse("makes-nothing(1)")), Error);
  schema.name = "makes-another";
  schema.make = [](std::span<const double>) -> std::unique_ptr<const Operation> {
    return std::make_unique<Operation>();
  };
  register_operation(schema);
  EXPECT_THROW(static_cast<void>(Policy::parse("makes-another(1)")), Error);
}

}  // namespace
}  // namespace stoker
