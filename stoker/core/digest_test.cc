#include "stoker/core/digest.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

std::string digest_of(std::initializer_list<std::string_view> texts) {
  Digest digest;
  for (const std::string_view text : texts) digest.add_text(text);
  return digest.hex();
}

// The value that xxhsum -H2 prints for no bytes at all.
TEST(Digest, OfNothingIsThePublishedValue) {
  EXPECT_EQ(Digest().hex(), "99aa06d3014798d86001c324468d497f");
}

TEST(Digest, SeesEveryChangeAndEveryBorder) {
  EXPECT_EQ(digest_of({"ab", "c"}), digest_of({"ab", "c"}));
  EXPECT_NE(digest_of({"ab", "c"}), digest_of({"a", "bc"}));
  EXPECT_NE(digest_of({"ab", "c"}), digest_of({"abc"}));
  EXPECT_NE(digest_of({"ab"}), digest_of({"ac"}));
}

}  // namespace
}  // namespace stoker
