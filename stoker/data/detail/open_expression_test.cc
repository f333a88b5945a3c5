#include "stoker/data/detail/open_expression.h"

#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

DataOptions with_test_data() {
  return {.places = {.environment = [](const char* name) -> std::optional<std::string> {
                       if (std::string(name) != "STOKER_TEST_DATA") return std::nullopt;
                       return test_data().string();
                     },
                     .system_folder = "none"}};
}

// The course's test images.
TEST(OpenExpression, JoinsSplitsAndRangesOfTheRealMnist) {
  STOKER_NEEDS(test_data() / "mnist");
  const DataOptions options = with_test_data();
  const auto joined = open_data("mnist:test,mnist:train[500:50000]", Split::kTrain, options);
  const auto train = open_data("mnist", Split::kTrain, options);
  const auto test = open_data("mnist", Split::kTest, options);
  ASSERT_EQ(joined->size(), 59'500U);
  EXPECT_EQ(joined->sample_name(9'999), test->sample_name(9'999));
  EXPECT_EQ(joined->sample_name(10'000), train->sample_name(500));
  EXPECT_EQ(joined->sample_name(59'499), train->sample_name(49'999));
  EXPECT_EQ(open_data("mnist[7:9]", Split::kTest, options)->sample_name(0), test->sample_name(7));
  EXPECT_EQ(open_data("mnist:train[50000:]", Split::kTest, options)->size(), 10'000U);
}

TEST(OpenExpression, ARangeOutsideTheDataIsAnErrorThatNamesIt) {
  STOKER_NEEDS(test_data() / "mnist");
  const std::string message = message_of([] {
    static_cast<void>(open_data("mnist:train[50000:60001]", Split::kTrain, with_test_data()));
  });
  EXPECT_NE(message.find("cannot take a range of mnist:train"), std::string::npos) << message;
  EXPECT_NE(message.find("end <= 60000"), std::string::npos) << message;
}

TEST(OpenExpression, AFolderThatIsThereIsNoExpression) {
  const TempFolder folder;
  const auto odd = folder.path() / "odd:test,odd[1:2]";
  std::filesystem::create_directory(odd);
  EXPECT_TRUE(detail::expression_terms(odd.string()).empty());
  EXPECT_EQ(detail::expression_terms((folder.path() / "none:test").string()).size(), 1U);
}

}  // namespace
}  // namespace stoker
