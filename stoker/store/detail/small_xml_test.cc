#include "stoker/store/detail/small_xml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker::detail {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(SmallXml, HasTheTextsOfItsElementsByPath) {
  EXPECT_THAT(parse_xml_texts("<?xml version=\"1.0\"?>\n<A xmlns='https://x/'>\n <B><C>1</C>"
                              "<D k = \"v>\"/></B><E >a&amp;b&#x41;&#65;&lt;</E >\n</A>\n"),
              UnorderedElementsAre(Pair("A/B/C", "1"), Pair("A/B/D", ""), Pair("A/E", "a&bAA<")));
}

TEST(SmallXml, RefusesAllOtherTextsWithoutRepeatingThem) {
  std::string deep, many = "<A>";
  for (int i = 0; i < 17; ++i) deep += "<A>";
  for (int i = 0; i < 256; ++i) many += "<B" + std::to_string(i) + "/>";
  for (const std::string& text : {std::string(),
                                  std::string("SECRET"),
                                  std::string("<A>SECRET"),
                                  std::string("<A>S</B>"),
                                  std::string("<A/><A/>"),
                                  std::string("<A><B>1</B><B>SECRET</B></A>"),
                                  std::string("<!DOCTYPE a [<!ENTITY b 'SECRET'>]><A>&b;</A>"),
                                  std::string("<A><!-- SECRET --></A>"),
                                  std::string("<A><![CDATA[SECRET]]></A>"),
                                  std::string("<A><?SECRET?></A>"),
                                  std::string("<A>&SECRET;</A>"),
                                  std::string("<A>&#233;</A>"),
                                  std::string("<A>&#0;</A>"),
                                  std::string("<A>&#x;</A>"),
                                  std::string("<A>& </A>"),
                                  std::string("<A b>1</A>"),
                                  std::string("<A b=c/>"),
                                  std::string("<A b='c/>"),
                                  std::string("< A/>"),
                                  std::string("<A"),
                                  std::string("<A/"),
                                  std::string("<A>1</A>SECRET"),
                                  std::string("<?xml"),
                                  deep,
                                  many + "</A>",
                                  "<A>" + std::string(70'000, 'x') + "</A>",
                                  "<" + std::string(200, 'n') + "/>"}) {
    const std::string message = message_of([&] { static_cast<void>(parse_xml_texts(text)); });
    EXPECT_THAT(message, HasSubstr("cannot understand the XML")) << text.substr(0, 50);
    EXPECT_THAT(message, Not(HasSubstr("SECRET")));
  }
}

}  // namespace
}  // namespace stoker::detail
