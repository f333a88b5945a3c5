#include "stoker/io/detail/strided_rows.h"

#include <array>
#include <cstring>
#include <span>

#include <gtest/gtest.h>

namespace stoker::detail {
namespace {

using Fault = StridedRows::Fault;

const std::array<float, 6> kStorage = {0, 1, 2, 3, 4, 5};

StridedTensor tensor_of(std::vector<std::int64_t> shape, std::vector<std::int64_t> strides,
                        std::int64_t offset = 0) {
  std::uint64_t bytes = sizeof(float);
  for (const std::int64_t size : shape) bytes *= static_cast<std::uint64_t>(size);
  return {.shape = std::move(shape),
          .strides = std::move(strides),
          .offset = offset,
          .bytes = bytes,
          .storage = std::as_bytes(std::span(kStorage))};
}

std::vector<float> floats_of(std::span<const std::byte> row) {
  std::vector<float> values(row.size() / sizeof(float));
  std::memcpy(values.data(), row.data(), row.size());
  return values;
}

TEST(StridedRows, AreViewsWhereValuesLieInARowAndElseCopies) {
  StridedRows rows(24);
  std::span<const std::byte> row;
  ASSERT_EQ(rows.make(tensor_of({2, 2}, {2, 1}, 2), row), Fault::kNone);
  EXPECT_EQ(row.data(), std::as_bytes(std::span(kStorage)).data() + 8);
  EXPECT_EQ(floats_of(row), (std::vector<float>{2, 3, 4, 5}));
  ASSERT_EQ(rows.make(tensor_of({3, 2}, {1, 3}), row), Fault::kNone);
  EXPECT_EQ(floats_of(row), (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(StridedRows, CopyNoMoreThanAllowed) {
  StridedRows rows(24);
  std::span<const std::byte> row;
  EXPECT_EQ(rows.make(tensor_of({2, 2}, {1, 3}), row), Fault::kNone);  // 16 bytes
  EXPECT_EQ(rows.make(tensor_of({3}, {0}), row), Fault::kRepeats);     // 12 more
  EXPECT_EQ(rows.make(tensor_of({2}, {3}), row), Fault::kNone);        // 8 more, the last
  EXPECT_EQ(rows.make(tensor_of({2}, {3}, 1), row), Fault::kRepeats);
  EXPECT_EQ(rows.make(tensor_of({6}, {1}), row), Fault::kNone);  // no copy
  EXPECT_EQ(rows.take_copies().size(), 2U);
}

TEST(StridedRows, DoNotReachBeyondTheirStorage) {
  StridedRows rows(1000);
  std::span<const std::byte> row;
  EXPECT_EQ(rows.make(tensor_of({6}, {1}), row), Fault::kNone);
  EXPECT_EQ(rows.make(tensor_of({6}, {1}, 1), row), Fault::kOutside);
  EXPECT_EQ(rows.make(tensor_of({2}, {5}), row), Fault::kNone);
  EXPECT_EQ(rows.make(tensor_of({2}, {6}), row), Fault::kOutside);
  EXPECT_EQ(rows.make(tensor_of({0}, {100}, 100), row), Fault::kNone);
  EXPECT_TRUE(row.empty());
}

TEST(RowStrides, AreThoseOfRows) {
  EXPECT_EQ(row_strides(std::vector<std::int64_t>{4, 3, 2}), (std::vector<std::int64_t>{6, 2, 1}));
  EXPECT_EQ(row_strides(std::vector<std::int64_t>{4, 0, 2}), (std::vector<std::int64_t>{2, 2, 1}));
  EXPECT_TRUE(row_strides({}).empty());
}

}  // namespace
}  // namespace stoker::detail
