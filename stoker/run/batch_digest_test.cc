#include "stoker/run/batch_digest.h"

#include <gtest/gtest.h>

#include "stoker/pipeline/feed.h"
#include "stoker/pipeline/test_sources.h"

namespace stoker {
namespace {

std::string digest_of(const FeedOptions& options, const Cursor& from = {}) {
  Feed feed(std::make_shared<test::MadeUpSource>(50), Policy::parse("noise(0.1)"), options);
  BatchDigest digest;
  while (const auto batch = feed.next()) digest.add(*batch, from);
  return digest.hex();
}

TEST(BatchDigest, TellsRunsApart) {
  const std::string digest = digest_of({.workers = 2});
  EXPECT_EQ(digest.size(), 32U);
  EXPECT_EQ(digest, digest_of({.workers = 3}));
  EXPECT_NE(digest, digest_of({.workers = 2, .seed = 1}));
  EXPECT_NE(digest, digest_of({.workers = 2, .epochs = 2}));
}

TEST(BatchDigest, DoesNotDependOnTheBatchSize) {
  EXPECT_EQ(digest_of({.workers = 2, .batch_size = 7}),
            digest_of({.workers = 2, .batch_size = 64}));
}

TEST(BatchDigest, OfATailEqualsThatOfARunThatStartsThere) {
  const Cursor middle{.epoch = 1, .position = 19};
  EXPECT_EQ(digest_of({.workers = 2, .batch_size = 8, .epochs = 3}, middle),
            digest_of({.workers = 2, .batch_size = 8, .epochs = 3, .begin = middle}));
}

}  // namespace
}  // namespace stoker
