#include "stoker/core/digest.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

std::string digest_of_texts(std::initializer_list<std::string_view> texts) {
  Digest digest;
  for (const std::string_view text : texts) digest.add_text(text);
  return digest.hex();
}

// The value that xxhsum -H2 prints for no bytes at all.
TEST(Digest, OfNothingIsThePublishedValue) {
  EXPECT_EQ(Digest().hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(digest_of({}), "99aa06d3014798d86001c324468d497f");
}

TEST(Digest, SeesEveryChangeAndEveryBorder) {
  EXPECT_EQ(digest_of_texts({"ab", "c"}), digest_of_texts({"ab", "c"}));
  EXPECT_NE(digest_of_texts({"ab", "c"}), digest_of_texts({"a", "bc"}));
  EXPECT_NE(digest_of_texts({"ab", "c"}), digest_of_texts({"abc"}));
  EXPECT_NE(digest_of_texts({"ab"}), digest_of_texts({"ac"}));
}

}  // namespace
}  // namespace stoker
