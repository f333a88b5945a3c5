#include "stoker/core/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"

namespace stoker {
namespace {

TEST(Task, NamesAreReadAndWritten) {
  EXPECT_EQ(parse_task("classify"), Task::kClassify);
  EXPECT_EQ(parse_task("multilabel"), Task::kMultilabel);
  EXPECT_EQ(parse_task("regress"), Task::kRegress);
  for (const std::string& name : task_names()) EXPECT_EQ(name_of(parse_task(name)), name);
}

TEST(Task, AnUnknownNameIsAnsweredWithAllNames) {
  const std::string message = message_of([] { (void)parse_task("regression"); });
  EXPECT_THAT(message, testing::HasSubstr("classify, multilabel, regress"));
  EXPECT_THAT(message, testing::HasSubstr("regression"));
}

}  // namespace
}  // namespace stoker
