#include "stoker/cli/progress.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stoker {
namespace {

std::string text_of(std::FILE* file) {
  std::string text;
  std::rewind(file);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  return text;
}

TEST(Progress, AFileIsNoTerminal) {
  std::FILE* file = std::tmpfile();
  EXPECT_EQ(progress_style(file), ProgressStyle::kLines);
  std::fclose(file);
}

TEST(Progress, DrawsABarThatEndsItsLineAtItsLastState) {
  std::FILE* file = std::tmpfile();
  {
    Progress progress("work", 100, file, ProgressStyle::kBar);
    progress.update(10);
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
    progress.update(50);
    progress.update(100);
  }
  const std::string text = text_of(file);
  EXPECT_THAT(text, testing::HasSubstr("\r\x1b[Jwork "));
  EXPECT_THAT(text, testing::HasSubstr(" 50 %"));
  EXPECT_THAT(text, testing::HasSubstr("100 %"));
  EXPECT_THAT(text, testing::EndsWith("\n"));
  std::fclose(file);
}

std::size_t columns_in(const std::string& line) {
  std::size_t columns = 0;
  for (const char c : line) columns += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return columns;
}

TEST(Progress, ALineNeverFillsTheTerminal) {
  const std::string text =
      " 45 %  98000 samples/s  1 s left  loss 0.3400  top-1 89.98 %  data wait 0.2 %";
  for (int columns = 1; columns < 200; ++columns) {
    EXPECT_LT(columns_in(bar_line("epoch  1/10", 0.45, text, columns)),
              static_cast<std::size_t>(columns));
  }
  EXPECT_THAT(bar_line("epoch  1/10", 0.45, text, 200), testing::HasSubstr("█"));
  EXPECT_THAT(bar_line("epoch  1/10", 0.45, text, 100), testing::HasSubstr("data wait 0.2 %"));
  EXPECT_EQ(bar_line("epoch  1/10", 0.45, text, 80).find("█"), std::string::npos);
}

TEST(Progress, AFileGetsWholeLinesAndFewOfThem) {
  std::FILE* file = std::tmpfile();
  {
    Progress progress("work", 1000, file, ProgressStyle::kLines);
    for (std::uint64_t i = 0; i < 1000; ++i) progress.update(i);
    std::this_thread::sleep_for(std::chrono::milliseconds(1050));
    progress.update(1000);
  }
  const std::string text = text_of(file);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_THAT(text, testing::StartsWith("work: 100 %"));
  std::fclose(file);
}

TEST(Progress, ShortWorkPrintsNothing) {
  std::FILE* file = std::tmpfile();
  {
    Progress progress("work", 10, file, ProgressStyle::kBar);
    progress.update(10);
  }
  EXPECT_EQ(text_of(file), "");
  std::fclose(file);
}

TEST(TimeLeft, IsTheMeanOfTheRunsThatAreDone) {
  EXPECT_EQ(time_left_text(60, 2, 5), ", about 90.0 s left");
  EXPECT_EQ(time_left_text(100, 1, 3), ", about 3 min 20 s left");
  EXPECT_EQ(time_left_text(100, 3, 3), "");
  EXPECT_EQ(time_left_text(0, 0, 3), "");
}

}  // namespace
}  // namespace stoker
