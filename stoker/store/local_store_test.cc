#include "stoker/store/local_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(LocalStore, KnowsItsFilesAndWhatIsNone) {
  const TempFolder folder;
  folder.write("b", Bytes(20, 'b'));
  folder.write("a", {});
  folder.write("deeper/c", {1});
  const LocalStore store(folder.path());
  EXPECT_THAT(store.list(), ElementsAre("a", "b"));
  ASSERT_TRUE(store.look("b"));
  EXPECT_EQ(store.look("b")->bytes, 20U);
  for (const char* name : {"none", "deeper", "a/under/a/file"}) {
    EXPECT_FALSE(store.look(name)) << name;
  }
}

TEST(LocalStore, SaysWhyItCannotLookOrList) {
  const TempFolder folder;
  const LocalStore store(folder.path());
  const std::string name(300, 'n');
  EXPECT_THAT(message_of([&] { static_cast<void>(store.look(name)); }),
              AllOf(HasSubstr(name), HasSubstr("File name too long")));
  const LocalStore missing(folder.path() / "none");
  EXPECT_THAT(message_of([&] { static_cast<void>(missing.list()); }),
              AllOf(HasSubstr("/none"), HasSubstr("No such file")));
}

TEST(LocalStore, RefusesMoreOrLessThanWasAskedFor) {
  const TempFolder folder;
  folder.write("o", Bytes(20, 'o'));
  const LocalStore store(folder.path());
  const auto refusal = [&](const ReadRequest& request) {
    return message_of([&] { store.read(request, [](std::span<const std::byte>) {}); });
  };
  EXPECT_THAT(refusal({.name = "o", .length = 21}), HasSubstr("20 bytes where 21 were expected"));
  EXPECT_THAT(refusal({.name = "o", .begin = 25, .length = 1}),
              HasSubstr("0 bytes where 1 were expected"));
  EXPECT_THAT(refusal({.name = "o", .at_most = 19}), HasSubstr("more than 19 bytes"));
  std::size_t bytes = 0;
  store.read({.name = "o", .at_most = 20},
             [&](std::span<const std::byte> piece) { bytes += piece.size(); });
  EXPECT_EQ(bytes, 20U);
}

}  // namespace
}  // namespace stoker
