#include "stoker/data/sources/table_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/data/sources/image_table.h"
#include "stoker/data/test_listings.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class TableWriter : public testing::Test {
 protected:
  fs::path put(const std::string& text, const std::string& name = "t.csv") const {
    return folder_.write(name, Bytes(text.begin(), text.end()));
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    const Bytes bytes = contents_of(folder_.path() / name);
    return {bytes.begin(), bytes.end()};
  }

  TempFolder folder_;
};

TEST_F(TableWriter, AddsAColumnOfPartsAndKeepsAllOthers) {
  const fs::path table =
      put("\xEF\xBB\xBFid,path,note\r\n1,a.png,\"x, \"\"y\"\"\"\r\n2,/far/b.png,\"1\n2\"\r\n");
  fs::create_directory(folder_.path() / "out");
  write_split_table(folder_.path() / "out/t.csv", table, {},
                    {{2, Split::kTrain}, {3, Split::kValidation}});
  EXPECT_EQ(text_of("out/t.csv"),
            "id,path,note,split\n1,../a.png,\"x, \"\"y\"\"\",train\n2,/far/b.png,\"1\n2\",val\n");
  const ImageListing again =
      read_image_table(folder_.path() / "out/t.csv", Split::kValidation, {.needs_labels = false});
  EXPECT_THAT(paths_of(again), ElementsAre("/far/b.png"));
}

TEST_F(TableWriter, SetsPartsWhereThereAreSomeAndLeavesOtherRows) {
  const fs::path table = put("path,Split,label\na,train,x\nb,test,y\nc,train,x\n");
  write_split_table(folder_.path() / "new.tsv", table, {}, {{4, Split::kValidation}});
  EXPECT_EQ(text_of("new.tsv"), "path\tSplit\tlabel\na\ttrain\tx\nb\ttest\ty\nc\tval\tx\n");
}

TEST_F(TableWriter, DoesNotWriteOverAnotherColumn) {
  const fs::path table = put("path,SPLIT\na,p\n");
  const auto write = [&] {
    write_split_table(folder_.path() / "n.csv", table, {.split = "none"}, {{2, Split::kTrain}});
  };
  EXPECT_THAT(message_of(write), HasSubstr("Rename the column"));
  const fs::path other = put("path\na\nb\n");
  EXPECT_THAT(message_of([&] {
                write_split_table(folder_.path() / "n.csv", other, {}, {{2, Split::kTrain}});
              }),
              HasSubstr("line 3"));
  EXPECT_FALSE(fs::exists(folder_.path() / "n.csv"));
}

TEST_F(TableWriter, KeepsChosenRows) {
  const fs::path table = put("path,x\na,1\nb,2\nc,3\n");
  write_table_rows(folder_.path() / "some.csv", table, {}, {2, 4});
  EXPECT_EQ(text_of("some.csv"), "path,x\na,1\nc,3\n");
}

TEST_F(TableWriter, ManyRowsAreWrittenInPieces) {
  std::string text = "path,x\n";
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + ".png,some words\n";
  std::set<std::uint32_t> lines;
  for (std::uint32_t i = 2; i < 100'002; ++i) lines.insert(i);
  write_table_rows(folder_.path() / "all.csv", put(text), {}, lines);
  EXPECT_EQ(text_of("all.csv"), text);
}

}  // namespace
}  // namespace stoker
