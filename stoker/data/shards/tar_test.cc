#include "stoker/data/shards/tar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/data/test_shards.h"

namespace stoker {
namespace {

using test::member;
using test::names_in;
using test::pax;
using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal_of(const std::string& archive) {
  return message_of([&] { static_cast<void>(names_in(archive)); });
}

TEST(Tar, ReadsWhatItWrites) {
  const std::string archive = tar_header("a.jpg", 5) + "hello" + tar_padding(5) +
                              tar_header("a.cls", 0) + tar_header("b.jpg", 512) +
                              std::string(512, 'x') + tar_padding(512) + tar_end();
  EXPECT_THAT(names_in(archive), ElementsAre("a.jpg", "a.cls", "b.jpg"));
  TarReader reader(test::as_bytes(archive), "x.tar");
  const auto first = reader.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(archive.substr(first->offset, first->size), "hello");
}

TEST(Tar, TakesLongNamesOfBothKindsAndPassesFoldersOver) {
  const std::string name = std::string(150, 'n') + ".jpg";
  EXPECT_THAT(names_in(pax("path", name) + member("short", "x") + member("next", "y")),
              ElementsAre(name, "next"));
  EXPECT_THAT(names_in(member("././@LongLink", name + '\0', 'L') + member("short", "x")),
              ElementsAre(name));
  EXPECT_THAT(names_in(member("folder/", "", '5') + pax("mtime", "1.5") + member("a", "x")),
              ElementsAre("a"));
}

TEST(Tar, EndsAtZerosOrWhereTheBytesEnd) {
  EXPECT_THAT(names_in(member("a", "x")), ElementsAre("a"));
  EXPECT_THAT(names_in(member("a", "x") + tar_end() + "anything"), ElementsAre("a"));
  EXPECT_TRUE(names_in("").empty());
}

TEST(Tar, RefusesLinksDevicesPipesAndSparseFiles) {
  for (const char type : {'1', '2', '3', '4', '6', '7', 'K', 'S', 'D', 'M', 'V', 'z'}) {
    EXPECT_THAT(refusal_of(member("a", "", type)), HasSubstr("got a")) << type;
  }
  EXPECT_THAT(refusal_of(pax("GNU.sparse.major", "1") + member("a", "x")), HasSubstr("sparse"));
}

TEST(Tar, RefusesNamesThatLeaveTheirFolder) {
  for (const char* name : {"../a", "a/../../b", "/etc/passwd", "..", "a\nb", "\x1b[2J"}) {
    EXPECT_THAT(refusal_of(member(name, "x")), HasSubstr("leaves its folder")) << name;
    EXPECT_THAT(refusal_of(pax("path", name) + member("a", "x")), HasSubstr("leaves its folder"));
    EXPECT_THAT(refusal_of(member("l", name, 'L') + member("a", "x")),
                HasSubstr("leaves its folder"));
  }
}

TEST(Tar, RefusesSizesThatLie) {
  EXPECT_THAT(refusal_of(member("a", "xyz", '0', 100'000)), HasSubstr("where 512 are left"));
  EXPECT_THAT(refusal_of(pax("size", "18446744073709551615") + member("a", "x")),
              HasSubstr("are left"));
  EXPECT_THAT(refusal_of(pax("size", "-1") + member("a", "x")), HasSubstr("no number"));
  std::string binary = member("a", "x");
  binary.replace(124, 12, 12, '\xFF');  // GNU's binary numbers: a negative one
  test::fit_checksum(binary);
  EXPECT_THAT(refusal_of(binary), HasSubstr("a number that is too large"));
  EXPECT_THAT(refusal_of(member("x", std::string(5000, 'n'), 'L') + member("a", "x")),
              HasSubstr("about the next member"));
}

TEST(Tar, RefusesDamage) {
  const std::string archive = member("a", "x");
  for (const std::size_t at : {0UL, 100UL, 130UL, 150UL, 257UL, 400UL}) {
    std::string damaged = archive;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_FALSE(refusal_of(damaged).empty()) << at;
  }
  EXPECT_THAT(refusal_of(archive.substr(0, 300)), HasSubstr("where a header has 512"));
  EXPECT_THAT(refusal_of(archive.substr(0, 512)), HasSubstr("cut short"));
  EXPECT_FALSE(refusal_of("\x1f\x8b" + std::string(600, 'z')).empty());
  EXPECT_THAT(refusal_of(pax("path", "b")), HasSubstr("does not come"));
  EXPECT_THAT(refusal_of(member("p", "99 path=b\n", 'x') + archive), HasSubstr("length is wrong"));
  EXPECT_THAT(refusal_of(member("p", "10 path=b\n", 'g') + archive), HasSubstr("for all members"));
}

TEST(Tar, RefusesToWriteWhatAHeaderCannotHold) {
  EXPECT_THROW(static_cast<void>(tar_header(std::string(101, 'n'), 1)), Error);
  EXPECT_THROW(static_cast<void>(tar_header("a", std::uint64_t{1} << 33)), Error);
}

}  // namespace
}  // namespace stoker
