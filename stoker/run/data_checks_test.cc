#include "stoker/run/data_checks.h"

#include <string>

#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

class Named final : public Source {
 public:
  explicit Named(std::vector<std::string> names) : names_(std::move(names)) {}
  [[nodiscard]] std::uint64_t size() const override { return 0; }
  [[nodiscard]] ImageShape shape() const override { return {.height = 1, .width = 1}; }
  [[nodiscard]] const std::vector<std::string>& class_names() const override { return names_; }
  [[nodiscard]] std::string sample_name(std::uint64_t /*index*/) const override { return ""; }
  [[nodiscard]] Result<Sample> read(std::uint64_t /*index*/,
                                    SampleBuffer& /*buffer*/) const override {
    return ErrorDetails{.what = "no sample"};
  }

 private:
  std::vector<std::string> names_;
};

TEST(DataChecks, ClassNamesThatAreNotUtf8AreRefusedWithTheirFolder) {
  const TempFolder temp;
  const std::string name = "caf\xe9", data = temp.path().string();
  temp.write("train/" + name + "/1.png", {});
  const ErrorDetails error = error_of([&] { check_class_names(Named({"bar", name}), data); });
  EXPECT_EQ(error.path, data + "/train/" + name);
  EXPECT_EQ(error.found, "\"caf\\xe9\"");
  EXPECT_EQ(error_of([&] { check_class_names(Named({name}), "list.tsv"); }).path, "list.tsv");
  EXPECT_NO_THROW(check_class_names(Named({"café", "狮子", "a\x1b"}), data));
}

}  // namespace
}  // namespace stoker
