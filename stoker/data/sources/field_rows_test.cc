#include "stoker/data/sources/field_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<FieldInfo> kFields = {{std::string(kClassesField), {"ant", "bee", "cat"}},
                                        {std::string(kWeightField), {"w"}}};

std::vector<float> row_of(const FieldRows& rows, std::size_t row) {
  std::vector<float> out(number_count(rows.fields()), -1);
  rows.read(row, out);
  return out;
}

TEST(FieldRows, ClassesBecomeZerosAndOnes) {
  FieldRows rows(kFields);
  rows.add(std::vector<std::uint32_t>{0, 2}, std::vector<float>{0.5F});
  rows.add({}, std::vector<float>{2});
  EXPECT_EQ(rows.size(), 2U);
  EXPECT_THAT(row_of(rows, 0), ElementsAre(1, 0, 1, 0.5F));
  EXPECT_THAT(row_of(rows, 1), ElementsAre(0, 0, 0, 2));
  EXPECT_THAT(rows.classes(0), ElementsAre(0, 2));
  EXPECT_THAT(rows.classes(1), IsEmpty());
}

TEST(FieldRows, APartHasTheRowsThatWereAddedToIt) {
  FieldRows whole(kFields), part(kFields);
  for (std::uint32_t i = 0; i < 3; ++i) {
    whole.add(std::vector<std::uint32_t>{i}, std::vector<float>{static_cast<float>(i)});
  }
  part.add_row(whole, 2);
  part.add_row(whole, 0);
  EXPECT_THAT(row_of(part, 0), ElementsAre(0, 0, 1, 2));
  EXPECT_THAT(row_of(part, 1), ElementsAre(1, 0, 0, 0));
}

TEST(FieldRows, NumbersAloneAndNothing) {
  FieldRows rows({{std::string(kTargetField), {"x", "y"}}});
  rows.add({}, std::vector<float>{1, 2});
  rows.add({}, std::vector<float>{3, 4});
  EXPECT_THAT(row_of(rows, 1), ElementsAre(3, 4));
  FieldRows none;
  none.add({}, {});
  none.add_row(none, 0);
  none.read(7, {});
  EXPECT_EQ(none.size(), 0U);
}

TEST(FieldRows, WhatDoesNotFitIsABug) {
  FieldRows rows(kFields);
  EXPECT_THROW(rows.add(std::vector<std::uint32_t>{3}, std::vector<float>{1}), InvariantError);
  EXPECT_THROW(rows.add(std::vector<std::uint32_t>{1, 0}, std::vector<float>{1}), InvariantError);
  EXPECT_THROW(rows.add({}, {}), InvariantError);
  EXPECT_THROW(FieldRows({kFields[1], kFields[0]}), InvariantError);
}

TEST(Fields, TheOffsetOfOneThatIsNotThereIsABug) {
  EXPECT_EQ(field_offset(kFields, kWeightField), 3U);
  EXPECT_THROW((void)field_offset(kFields, kTargetField), InvariantError);
}

}  // namespace
}  // namespace stoker
