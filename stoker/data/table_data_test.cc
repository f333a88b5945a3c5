// Tables where folders and lists go: opened by path and expression, divided, compared, trained on.
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/data/catalog.h"
#include "stoker/data/data_identity.h"
#include "stoker/data/division.h"
#include "stoker/data/identity_difference.h"
#include "stoker/data/sources/balance.h"
#include "stoker/data/sources/folder_source.h"
#include "stoker/data/split.h"
#include "stoker/data/test_listings.h"
#include "stoker/data/training_parts.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class TableData : public testing::Test {
 protected:
  std::string put(const std::string& text, const std::string& name = "t.csv") const {
    return folder_.write(name, Bytes(text.begin(), text.end())).string();
  }
  // n images; each row is its path and what `cells` gives.
  template <class Cells>
  std::string put_rows(int n, const std::string& header, const Cells& cells) const {
    std::string text = "path," + header + "\n";
    for (int i = 0; i < n; ++i) {
      const std::string name = fmt::format("{:03}.png", i);
      write_files(folder_, {name});
      text += name + "," + cells(i) + "\n";
    }
    return put(text);
  }
  static std::vector<std::string> names(const Source& source) {
    std::vector<std::string> all;
    for (std::uint64_t i = 0; i < source.size(); ++i) {
      all.push_back(fs::path(source.sample_name(i)).filename().string());
    }
    return all;
  }
  static std::vector<float> numbers(const Source& source, std::uint64_t index) {
    std::vector<float> out(number_count(source.fields()));
    EXPECT_EQ(source.read_fields(index, out).value(), out.size());
    return out;
  }

  TempFolder folder_;
};

TEST_F(TableData, IsOpenedByPathAndByExpression) {
  const std::string table = put_rows(6, "label,split", [](int i) {
    return fmt::format("{},{}", i % 2 == 0 ? "a" : "b", i < 4 ? "train" : "test");
  });
  EXPECT_EQ(find_data_parts(table), (DataParts{.validation = false, .test = true}));
  EXPECT_THAT(names(*open_data(table, Split::kTest)), ElementsAre("004.png", "005.png"));
  EXPECT_THAT(names(*open_data(table + "[1:3]", Split::kTrain)), ElementsAre("001.png", "002.png"));
  const auto joined = open_data(table + ":test," + table + ":train[:1]", Split::kTrain);
  EXPECT_THAT(names(*joined), ElementsAre("004.png", "005.png", "000.png"));
  EXPECT_THAT(joined->class_names(), ElementsAre("a", "b"));
  EXPECT_THAT(message_of([&] { (void)open_data(table, Split::kValidation); }),
              AllOf(HasSubstr("no validation part"), HasSubstr("rows of a table")));
}

TEST_F(TableData, FieldsAreReadThroughViews) {
  const std::string table =
      put_rows(4, "x,w", [](int i) { return fmt::format("{},{}", 10 * i, i); });
  const DataOptions options{.table = {.weight = "w", .targets = {"x"}}};
  const auto range = open_data(table + "[2:4]", Split::kTrain, options);
  ASSERT_EQ(range->fields().size(), 2U);
  EXPECT_THAT(numbers(*range, 1), ElementsAre(30, 3));
  const auto joined = open_data(table + "[3:4]," + table + "[1:2]", Split::kTrain, options);
  EXPECT_THAT(numbers(*joined, 0), ElementsAre(30, 3));
  EXPECT_THAT(numbers(*joined, 1), ElementsAre(10, 1));
}

TEST_F(TableData, AMissingFileIsFoundWhereItIsReadAndTheLineIsNamed) {
  const std::string table = put("path,label\n\nmissing.png,a\nbroken.png,b\n");
  write_files(folder_, {"broken.png"});
  const auto source = open_data(table, Split::kTrain);
  SampleBuffer buffer;
  const auto missing = source->read(0, buffer);
  ASSERT_FALSE(missing);
  EXPECT_THAT(to_string(missing.error()), AllOf(HasSubstr("missing.png"), HasSubstr("No such file"),
                                                HasSubstr("Line 3 of " + table)));
  EXPECT_THAT(to_string(source->read(1, buffer).error()), HasSubstr("Line 4 of " + table));
}

TEST_F(TableData, ParquetIsRefusedWithTheConversion) {
  const std::string table = put("PAR1", "t.parquet");
  for (const auto& action : std::vector<std::function<void()>>{
           [&] { (void)open_data(table, Split::kTrain); }, [&] { (void)find_data_parts(table); }}) {
    EXPECT_THAT(message_of(action),
                AllOf(HasSubstr("Parquet"), HasSubstr("pandas.read_parquet('" + table + "')"),
                      HasSubstr("t.csv")));
  }
}

TEST_F(TableData, IsDividedByClassAndCopiesStayTogether) {
  const std::string table = put_rows(40, "label", [](int i) { return i < 20 ? "a" : "b"; });
  folder_.write("030.png", contents_of(folder_.path() / "010.png"));
  const auto source = open_data(table, Split::kTrain);
  const DividedSource parts = divide(source, {.fraction = 0.25, .seed = 3});
  EXPECT_EQ(parts.train->size() + parts.validation->size(), 40U);
  const std::vector<std::string> list = names(*parts.validation);
  const std::set<std::string> validation(list.begin(), list.end());
  EXPECT_EQ(validation.contains("030.png"), validation.contains("010.png"));
  EXPECT_NEAR(static_cast<double>(list.size()), 10, 1);
  const auto again = divide(open_data(table, Split::kTrain), {.fraction = 0.25, .seed = 3});
  EXPECT_EQ(names(*again.validation), list);
}

TEST_F(TableData, SeveralClassesAndNumbersAreDividedAsOneStratum) {
  const std::string table = put_rows(40, "x", [](int i) { return std::to_string(i); });
  const DataOptions options{.table = {.targets = {"x"}}};
  const auto source = open_data(table, Split::kTrain, options);
  std::multiset<float> all;
  for (std::uint32_t fold = 0; fold < 4; ++fold) {
    const DividedSource parts =
        divide(source, {.kind = Division::Kind::kFolds, .folds = 4, .fold = fold, .seed = 1});
    EXPECT_EQ(parts.validation->size(), 10U);
    for (std::uint64_t i = 0; i < parts.validation->size(); ++i) {
      const float number = numbers(*parts.validation, i).front();
      EXPECT_EQ(names(*parts.validation)[i], fmt::format("{:03}.png", number));
      all.insert(number);
    }
  }
  EXPECT_EQ(all.size(), 40U);
  EXPECT_EQ(std::set<float>(all.begin(), all.end()).size(), 40U);
  const DividedSource some = divide(source, {.fraction = 0.1, .seed = 2});
  EXPECT_EQ(some.validation->size(), 4U);
  EXPECT_NE(names(*divide(source, {.fraction = 0.1, .seed = 3}).validation),
            names(*some.validation));
}

TEST_F(TableData, AMissingFileDoesNotStopADivision) {
  const std::string table = put_rows(20, "label", [](int) { return "a"; });
  fs::remove(folder_.path() / "003.png");
  fs::remove(folder_.path() / "004.png");
  const DividedSource parts = divide(open_data(table, Split::kTrain), {.fraction = 0.5});
  EXPECT_EQ(parts.train->size() + parts.validation->size(), 20U);
}

TEST_F(TableData, SplitKeepsTheFields) {
  const std::string table = put_rows(10, "x", [](int i) { return std::to_string(i); });
  const auto source = open_data(table, Split::kTrain, {.table = {.targets = {"x"}}});
  const auto& folder = dynamic_cast<const FolderSource&>(*source);
  const SplitParts parts = split_listing(folder.listing(), {.every = 5});
  const FolderSource validation(parts.validation);
  EXPECT_THAT(names(validation), ElementsAre("000.png", "005.png"));
  EXPECT_THAT(numbers(validation, 1), ElementsAre(5));
}

TEST_F(TableData, OnlyOneClassAnImageCanBeBalanced) {
  const std::string table = put("path,tags,x\na.png,p;q,1\nb.png,q,2\n");
  const auto labels = open_data(table, Split::kTrain, {.table = {.labels = {"tags"}}});
  EXPECT_THAT(message_of([&] { (void)samples_by_class(*labels); }),
              AllOf(HasSubstr("several classes"), HasSubstr("`class_weights`")));
  const auto numbers = open_data(table, Split::kTrain, {.table = {.targets = {"x"}}});
  EXPECT_THAT(message_of([&] { (void)Balanced(numbers, 1); }), HasSubstr("numbers to predict"));
}

TEST_F(TableData, IdentitySeesLabelsNumbersNamesAndContents) {
  const IdentitySides sides{.here = "here", .there = "before"};
  const auto identity = [&](const std::string& text, const TableColumns& columns) {
    const DataPart parts[] = {
        {"training", open_data(put(text), Split::kTrain, {.table = columns})}};
    return identity_of(parts).text();
  };
  const auto difference = [&](const std::string& now, const std::string& before,
                              const TableColumns& columns) {
    const std::string there = identity(before, columns);
    return first_difference(identity(now, columns), there, sides);
  };
  write_files(folder_, {"a.png", "b.png"});
  const std::string text = "path,x,tags,label\na.png,1,p,u\nb.png,2,p;q,v\n";
  const TableColumns tags{.labels = {"tags"}}, x{.targets = {"x"}};
  EXPECT_EQ(difference("path,x,tags,label\na.png,1,q,u\nb.png,2,p;q,v\n", text, tags),
            "a.png has other labels here than before");
  EXPECT_EQ(difference("path,x,tags,label\na.png,1,p,u\nb.png,2.5,p;q,v\n", text, x),
            "b.png has other labels here than before");
  EXPECT_EQ(difference("path,x,tags,label\na.png,1,p,u\nb.png,2,p;r,v\n", text, tags),
            "classes is 'r' here and 'q' before");
  EXPECT_EQ(difference("path,x,tags,label\na.png,1,p,v\nb.png,2,p;q,u\n", text, {}),
            "a.png is of class 'v' here and of class 'u' before");
  // Columns that are not used do not count.
  EXPECT_EQ(difference("path,x,tags,label\na.png,1,p,z\nb.png,3,p;q,v\n", text, tags), "");
  const std::string before = identity(text, tags);
  folder_.write("b.png", Bytes(5, 'x'));
  EXPECT_EQ(first_difference(identity(text, tags), before, sides),
            "b.png has other content here than before");
}

TEST_F(TableData, IdentityOfALargeTableAsksSomeFilesForTheirSize) {
  const std::string table = put_rows(10, "label", [](int) { return "a"; });
  const DataPart parts[] = {{"training", open_data(table, Split::kTrain)}};
  EXPECT_TRUE(content_is_cheap(parts, {.content_bytes = 70}));
  EXPECT_FALSE(content_is_cheap(parts, {.content_bytes = 69}));
  EXPECT_FALSE(content_is_cheap(parts, {.looked_at = 9}));
  const std::string text = identity_of(parts, {.looked_at = 4}).text();
  EXPECT_THAT(text, HasSubstr("image\t000.png\t7\t0\t-\nimage\t001.png\t0\t0\t-\n"));
  EXPECT_THAT(text, HasSubstr("image\t003.png\t7\t0\t-\n"));
  EXPECT_THAT(text, HasSubstr("image\t009.png\t7\t0\t-\n"));
}

TEST_F(TableData, IsTrainedOnAndValidatedByItsParts) {
  const std::string table = put_rows(12, "tags,x,split", [](int i) {
    return fmt::format("{},{},{}", i == 0 ? "p" : "q;p", i,
                       i < 8    ? "train"
                       : i < 10 ? "val"
                                : "test");
  });
  const DataOptions tags{.table = {.labels = {"tags"}}};
  const TrainingParts parts = open_training_parts({.data = table}, tags);
  EXPECT_EQ(parts.train->size(), 8U);
  EXPECT_EQ(parts.validation->size(), 2U);
  ASSERT_NE(parts.test, nullptr);
  EXPECT_THAT(parts.notes, IsEmpty());
  EXPECT_EQ(parts.test->fields()[0].values, parts.train->fields()[0].values);
  // Another table has the classes of the training data, where it has no others.
  const std::string other = put("path,tags\n000.png,q\n", "other.csv");
  const TrainingParts named = open_training_parts({.data = table, .validation_data = other}, tags);
  EXPECT_THAT(named.validation->fields()[0].values, ElementsAre("p", "q"));
  EXPECT_THAT(numbers(*named.validation, 0), ElementsAre(0, 1));
  const std::string foreign = put("path,tags\n000.png,z\n", "foreign.csv");
  EXPECT_THAT(message_of([&] {
                (void)open_training_parts({.data = table, .validation_data = foreign}, tags);
              }),
              AllOf(HasSubstr("\"p\" as label 0 of 2"), HasSubstr("\"z\" as label 0 of 1")));
}

TEST_F(TableData, NumbersAndClassesAreNotMixed) {
  const std::string table = put_rows(8, "x", [](int i) { return std::to_string(i); });
  write_files(folder_, {"d/p/1.png", "d/q/1.png"});
  EXPECT_THAT(message_of([&] {
                (void)open_training_parts(
                    {.data = table, .validation_data = (folder_.path() / "d").string()},
                    {.table = {.targets = {"x"}}});
              }),
              AllOf(HasSubstr("\"x\" as number 0 of 1"), HasSubstr("\"p\" as class 0 of 2")));
}

TEST_F(TableData, OtherFieldsAreNotJoined) {
  const std::string two = put("path,tags\na.png,p;q\n", "two.csv");
  const std::string one = put("path,tags\na.png,p\n", "one.csv");
  EXPECT_THAT(
      message_of([&] {
        (void)open_data(two + "[:1]," + one + "[:1]", Split::kTrain,
                        {.table = {.labels = {"tags"}}});
      }),
      AllOf(HasSubstr("cannot join"), HasSubstr("the same fields: \"q\" of classes as number 1"),
            HasSubstr("got no number 1")));
}

}  // namespace
}  // namespace stoker
