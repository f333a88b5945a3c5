#include "stoker/kernels/detail/row_bands.h"

#include <atomic>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace stoker::detail {
namespace {

TEST(RowBands, CoverEveryRowOnceInMultiples) {
  for (const int rows : {0, 1, 15, 16, 17, 100, 1000}) {
    for (const int threads : {1, 2, 3, 8}) {
      std::vector<std::atomic<int>> seen(rows);
      for_row_bands(rows, 16, threads, [&](int begin, int end) {
        EXPECT_TRUE(begin % 16 == 0 && (end % 16 == 0 || end == rows)) << begin << " " << end;
        for (int y = begin; y < end; ++y) ++seen[y];
      });
      for (const auto& count : seen) EXPECT_EQ(count, 1);
    }
  }
}

TEST(RowBands, AnErrorOfABandReachesTheCaller) {
  for (const int failing : {0, 2}) {
    EXPECT_THROW(for_row_bands(3, 1, 3,
                               [&](int begin, int) {
                                 if (begin == failing) throw std::runtime_error("band");
                               }),
                 std::runtime_error);
  }
}

TEST(RowBands, SmallWorkStaysWithTheCaller) {
  EXPECT_EQ(worthwhile_threads(8, 10, 1000), 1);
  EXPECT_EQ(worthwhile_threads(8, 3000, 1000), 3);
  EXPECT_EQ(worthwhile_threads(2, 1e9, 1000), 2);
  EXPECT_GE(worthwhile_threads(0, 1e9, 1000), 1);
}

}  // namespace
}  // namespace stoker::detail
