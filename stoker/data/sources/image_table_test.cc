#include "stoker/data/sources/image_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/data/sources/file_sizes.h"
#include "stoker/data/test_listings.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ImageTable : public testing::Test {
 protected:
  fs::path write(const std::string& text, const fs::path& name = "table.csv") const {
    return folder_.write(name, Bytes(text.begin(), text.end()));
  }
  ImageListing read(const std::string& text, const TableColumns& columns = {},
                    Split split = Split::kTrain) const {
    return read_image_table(write(text), split, {.columns = columns});
  }
  ErrorDetails error_for(const std::string& text, const TableColumns& columns = {}) const {
    return error_of([&] { (void)read(text, columns); });
  }
  static std::vector<std::int32_t> labels_of(const ImageListing& listing) {
    std::vector<std::int32_t> labels;
    for (const ListedImage& image : listing.images) labels.push_back(image.label);
    return labels;
  }
  static std::vector<float> row_of(const ImageListing& listing, std::size_t row) {
    std::vector<float> out(number_count(listing.fields.fields()));
    listing.fields.read(row, out);
    return out;
  }

  TempFolder folder_;
};

TEST_F(ImageTable, ClassesAreSortedByNameAndLinesAreKept) {
  const ImageListing listing =
      read("path,label\nb/1.png,zebra\n\n\"a,2.png\",ant\nc.png,zebra\n/far/d.png,10\ne.png,9\n");
  EXPECT_THAT(listing.class_names, ElementsAre("10", "9", "ant", "zebra"));
  EXPECT_THAT(labels_of(listing), ElementsAre(3, 2, 3, 0, 1));
  EXPECT_THAT(paths_of(listing), ElementsAre("b/1.png", "a,2.png", "c.png", "/far/d.png", "e.png"));
  EXPECT_EQ(listing.root, folder_.path());
  EXPECT_EQ(listing.table, folder_.path() / "table.csv");
  EXPECT_EQ(listing.images[1].line, 4U);
  EXPECT_EQ(listing.images[4].line, 7U);
  EXPECT_THAT(listing.fields.fields(), IsEmpty());
}

TEST_F(ImageTable, FilesAreNotLookedAtUntilTheirSizesAreAskedFor) {
  write_files(folder_, {"a.png"});
  const ImageListing listing = read("path,label\na.png,x\nmissing.png,y\n");
  EXPECT_EQ(listing.images[0].bytes, 0U);
  EXPECT_THAT(file_sizes(listing), ElementsAre(5, 0));
}

TEST_F(ImageTable, ColumnsAreFoundByHabitOrByName) {
  const std::string text = "id,IMAGE,Class,other\n1,a.png,x,y\n";
  EXPECT_THAT(paths_of(read(text)), ElementsAre("a.png"));
  EXPECT_THAT(read(text).class_names, ElementsAre("x"));
  EXPECT_THAT(read(text, {.label = "other"}).class_names, ElementsAre("y"));
  EXPECT_THAT(paths_of(read(text, {.path = "ID"})), ElementsAre("1"));
  EXPECT_THAT(paths_of(read("x,label\na.png,1\n")), ElementsAre("a.png"));
  EXPECT_THAT(paths_of(read("filename,path,category,label\na,b,c,d\n")), ElementsAre("b"));
  EXPECT_THAT(read("filename,path,category,label\na,b,c,d\n").class_names, ElementsAre("d"));
}

TEST_F(ImageTable, PartsAreRowsOfTheSplitColumn) {
  const std::string text =
      "path,label,Split\na,x,train\nb,y,VAL\nc,x,test\n4,z,valid\ne,x,validation\nf,x,train\n";
  EXPECT_THAT(paths_of(read(text)), ElementsAre("a", "f"));
  EXPECT_THAT(paths_of(read(text, {}, Split::kValidation)), ElementsAre("b", "4", "e"));
  EXPECT_THAT(paths_of(read(text, {}, Split::kTest)), ElementsAre("c"));
  for (const Split split : {Split::kTrain, Split::kValidation, Split::kTest}) {
    EXPECT_THAT(read(text, {}, split).class_names, ElementsAre("x", "y", "z"));
  }
  EXPECT_EQ(table_parts(write(text), {}), (DataParts{.validation = true, .test = true}));
  EXPECT_EQ(read(text, {.split = "none"}).images.size(), 6U);
  EXPECT_TRUE(table_parts(write(text), {.split = "none"}).whole());
  const std::string renamed = "path,label,fold\na,x,train\nb,y,test\n";
  EXPECT_EQ(read(renamed).images.size(), 2U);
  EXPECT_EQ(read(renamed, {.split = "fold"}).images.size(), 1U);
  EXPECT_EQ(table_parts(write(renamed), {.split = "fold"}), (DataParts{.test = true}));
}

TEST_F(ImageTable, WrongPartsAreErrors) {
  const ErrorDetails error = error_for("path,label,split\na,x,train\nb,x,fold2\n");
  EXPECT_EQ(error.what, "cannot read line 3, column 3 (split) of a table");
  EXPECT_EQ(error.found, "\"fold2\"");
  EXPECT_THAT(error.hint, HasSubstr("`split_column` none"));
  EXPECT_THAT(error_for("path,label,split\na,x,\n").what, HasSubstr("line 2, column 3"));
  const ErrorDetails none = error_for("path,label,split\na,x,val\nb,x,test\n");
  EXPECT_EQ(none.what, "the table has no training part");
  EXPECT_EQ(none.found, "1 of val and 1 of test");
  const fs::path table = write("path,label,split\na,x,train\n");
  EXPECT_THAT(error_of([&] { (void)read_image_table(table, Split::kTest); }).what,
              HasSubstr("no test part"));
}

TEST_F(ImageTable, ColumnsOfFlagsBecomeASetOfClasses) {
  const ImageListing listing =
      read("path,cat,dog,out door,label\na,1,0,True,x\nb,,no,0.0,y\nc,yes,1.0, FALSE ,z\n",
           {.labels = {"out door", "cat", "dog"}});
  EXPECT_THAT(listing.class_names, IsEmpty());
  EXPECT_THAT(labels_of(listing), ElementsAre(kNoClass, kNoClass, kNoClass));
  ASSERT_EQ(listing.fields.fields().size(), 1U);
  EXPECT_EQ(listing.fields.fields()[0], (FieldInfo{"classes", {"out door", "cat", "dog"}}));
  EXPECT_THAT(row_of(listing, 0), ElementsAre(1, 1, 0));
  EXPECT_THAT(row_of(listing, 1), ElementsAre(0, 0, 0));
  EXPECT_THAT(row_of(listing, 2), ElementsAre(0, 1, 1));
  const ErrorDetails error =
      error_for("path,cat,dog\na,1,0\nb,1,maybe\n", {.labels = {"cat", "dog"}});
  EXPECT_EQ(error.what, "cannot read line 3, column 3 (dog) of a table");
  EXPECT_EQ(error.found, "\"maybe\"");
}

TEST_F(ImageTable, AColumnOfListsBecomesASetOfClasses) {
  const TableColumns tags{.labels = {"tags"}};
  for (const std::string separator : {";", "|", ","}) {
    const ImageListing listing = read("path,tags,split\na,\"zoo" + separator +
                                          " ant\",train\nb,,train\nc,ant,train\n4,\"bee" +
                                          separator + separator + "bee" + separator + "\",test\n",
                                      tags);
    EXPECT_EQ(listing.fields.fields()[0], (FieldInfo{"classes", {"ant", "bee", "zoo"}}));
    EXPECT_THAT(row_of(listing, 0), ElementsAre(1, 0, 1)) << separator;
    EXPECT_THAT(row_of(listing, 1), ElementsAre(0, 0, 0));
    EXPECT_THAT(row_of(listing, 2), ElementsAre(1, 0, 0));
  }
  // The first of ; | , that occurs divides all cells; names may hold the others.
  const ImageListing mixed = read("path,tags\na,\"cell, red;x|y\"\nb,\"cell, red\"\n", tags);
  EXPECT_THAT(mixed.fields.fields()[0].values, ElementsAre("cell, red", "x|y"));
  // A lone column of flags is one class.
  const ImageListing flags = read("path,tags\na,1\nb,0\n", tags);
  EXPECT_THAT(flags.fields.fields()[0].values, ElementsAre("tags"));
  EXPECT_THAT(row_of(flags, 0), ElementsAre(1));
}

TEST_F(ImageTable, NumbersToPredictAndWeights) {
  const ImageListing listing =
      read("path,x,y,w\na,1.5,-2e3,0\nb, +7 ,0,0.25\n", {.weight = "w", .targets = {"y", "x"}});
  EXPECT_THAT(listing.class_names, IsEmpty());
  ASSERT_EQ(listing.fields.fields().size(), 2U);
  EXPECT_EQ(listing.fields.fields()[0], (FieldInfo{"target", {"y", "x"}}));
  EXPECT_EQ(listing.fields.fields()[1], (FieldInfo{"weight", {"w"}}));
  EXPECT_THAT(row_of(listing, 0), ElementsAre(-2000, 1.5F, 0));
  EXPECT_THAT(row_of(listing, 1), ElementsAre(0, 7, 0.25F));
  for (const char* wrong : {"", "x", "1,5", "nan", "inf", "1e40", "1 2", "0x10"}) {
    const ErrorDetails error =
        error_for(std::string("path,x\na,1\nb,\"") + wrong + "\"\n", {.targets = {"x"}});
    EXPECT_EQ(error.what, "cannot read line 3, column 2 (x) of a table") << wrong;
  }
  const ErrorDetails weight = error_for("path,label,w\na,x,-1\n", {.weight = "w"});
  EXPECT_EQ(weight.what, "cannot read line 2, column 3 (w) of a table");
  EXPECT_THAT(read("path,label,w\na,x,2\n", {.weight = "w"}).class_names, ElementsAre("x"));
}

TEST_F(ImageTable, EmptyAndRepeatedCellsAreErrorsWithLineAndColumn) {
  EXPECT_EQ(error_for("path,label\na,x\n,x\n").what,
            "cannot read line 3, column 1 (path) of a table");
  EXPECT_EQ(error_for("path,label\na,x\nb,\n").what,
            "cannot read line 3, column 2 (label) of a table");
  const ErrorDetails twice = error_for("path,label\na,x\nb,y\na,z\n");
  EXPECT_EQ(twice.what, "cannot read line 4, column 1 (path) of a table");
  EXPECT_EQ(twice.found, "a again, as in line 2");
  EXPECT_EQ(error_for("path,label\na,\"x\ny\"\n").what,
            "cannot read line 2, column 2 (label) of a table");
  EXPECT_EQ(error_for("path,label\n" + std::string(5000, 'x') + ",y\n").what,
            "cannot read line 2, column 1 (path) of a table");
  EXPECT_THAT(error_for("path,label\ns3://bucket/a.png,y\n").what, HasSubstr("line 2, column 1"));
  EXPECT_EQ(error_for("path,label\n").what, "a table has no rows");
  // In two parts it is a leak, which the doctor finds.
  EXPECT_EQ(read("path,label,split\na,x,train\na,x,val\n").images.size(), 1U);
  const ImageListing repeated =
      read_image_table(write("path,label\na,x\na,y\n"), Split::kTrain, {.repeated_paths = true});
  EXPECT_EQ(repeated.images.size(), 2U);
}

TEST_F(ImageTable, ManyPathsAreTakenApart) {
  std::string text = "path,label\n";
  for (int i = 0; i < 5000; ++i) text += std::to_string(i) + ".png,x\n";
  EXPECT_EQ(read(text).images.size(), 5000U);
  EXPECT_EQ(error_for(text + "4321.png,x\n").found, "4321.png again, as in line 4323");
}

TEST_F(ImageTable, ColumnsThatAreNotThereAreNamed) {
  const std::string text = "path,species,tag\na,x,y\n";
  const ErrorDetails none = error_for(text);
  EXPECT_THAT(none.found, HasSubstr("path, species, tag"));
  EXPECT_THAT(none.hint, AllOf(HasSubstr("`label`"), HasSubstr("`labels`"), HasSubstr("`target`")));
  const ErrorDetails typo = error_for(text, {.label = "specis"});
  EXPECT_EQ(typo.what, "the table has no column specis");
  EXPECT_THAT(typo.hint, HasSubstr("species"));
  EXPECT_THAT(error_for(text, {.targets = {"age"}}).expected, HasSubstr("`target`"));
  EXPECT_THAT(error_for(text, {.label = "path"}).what, HasSubstr("twice"));
  EXPECT_THAT(error_for(text, {.labels = {"tag", "tag"}}).what, HasSubstr("twice"));
  EXPECT_THAT(error_for("path,label,label\na,x,y\n").what, HasSubstr("two columns"));
  EXPECT_THAT(error_for("path,Label,LABEL\na,x,y\n", {.label = "label"}).what,
              HasSubstr("two columns"));
  EXPECT_THAT(read("path,Label,LABEL\na,x,y\n", {.label = "LABEL"}).class_names, ElementsAre("y"));
  EXPECT_THAT(error_for(text, {.label = "species", .targets = {"tag"}}).expected,
              HasSubstr("one of"));
}

TEST_F(ImageTable, WithoutLabelsIsForPrediction) {
  const fs::path table = write("path,note\na,x\n");
  const ImageListing listing = read_image_table(table, Split::kTrain, {.needs_labels = false});
  EXPECT_THAT(listing.class_names, IsEmpty());
  EXPECT_THAT(labels_of(listing), ElementsAre(kNoClass));
  EXPECT_EQ(read_image_table(table, Split::kTrain,
                             {.columns = {.labels = {"cat", "dog"}}, .needs_labels = false})
                .images.size(),
            1U);
}

TEST_F(ImageTable, KnownClassesGiveTheOrderWhereTheyHoldAll) {
  const fs::path table = write("path,label\na,y\nb,x\n");
  const auto classes = [&](const std::vector<std::string>& known) {
    return read_image_table(table, Split::kTrain, {.known_classes = known}).class_names;
  };
  EXPECT_THAT(classes({"z", "y", "x"}), ElementsAre("z", "y", "x"));
  EXPECT_THAT(classes({"z", "y"}), ElementsAre("x", "y"));
  EXPECT_THAT(labels_of(read_image_table(table, Split::kTrain, {.known_classes = {"z", "y", "x"}})),
              ElementsAre(1, 2));
}

TEST_F(ImageTable, ListsUnderItsExtensionStayLists) {
  EXPECT_TRUE(is_image_table(write("path,label\na.png,x\n")));
  EXPECT_TRUE(is_image_table(write("path\tlabel\na.png\tx\n", "t.TSV")));
  EXPECT_FALSE(is_image_table(write("a.png\tx\nb.png\ty\n", "list.tsv")));
  EXPECT_FALSE(is_image_table(write("#classes\tx\ty\na.png\tx\n", "list.tsv")));
  EXPECT_FALSE(
      is_image_table(write("\xEF\xBB\xBF"
                           "a.png\r\nb.png\r\n",
                           "list.csv")));
  EXPECT_FALSE(is_image_table(write("path,label\na.png,x\n", "list.txt")));
  EXPECT_FALSE(is_image_table(folder_.path()));
  EXPECT_FALSE(is_image_table(folder_.path() / "none.csv"));
  EXPECT_TRUE(is_image_table(write("", "empty.csv")));
  const ErrorDetails error = error_for("a.png,x\nb.png,y\n");
  EXPECT_THAT(error.what, HasSubstr("line 1"));
  EXPECT_THAT(error.hint, HasSubstr("path,label"));
}

TEST_F(ImageTable, AMillionClassesAreTheMost) {
  std::string text = "path,tags\na.png,";
  for (int i = 0; i <= 1'000'000; ++i) text += std::to_string(i) + ";";
  const ErrorDetails error = error_for(text + "\n", {.labels = {"tags"}});
  EXPECT_EQ(error.expected, "at most 1000000 classes");
  EXPECT_THAT(error.hint, HasSubstr("`target`"));
}

}  // namespace
}  // namespace stoker
