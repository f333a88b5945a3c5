#include "stoker/io/detail/protobuf_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"
#include "stoker/io/detail/protobuf.h"

namespace stoker::detail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kWhat = "the message", kFile = "m.pb";

ProtoReader reader_of(const std::string& bytes) {
  const auto span = std::as_bytes(std::span(bytes));
  return {span, span, kWhat, kFile};
}

// Reads all fields; what() of the Error.
std::string proto_refusal(const std::string& bytes) {
  try {
    ProtoReader reader = reader_of(bytes);
    while (reader.next()) {
    }
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(ProtoReader, ReadsWhatTheWriterWrites) {
  ProtoMessage inner, message;
  inner.add_text(4, "Conv");
  message.add_integer(1, -3);
  message.add_float(2, 1.5F);
  message.add_double(3, 2.5);
  message.add_message(100, inner);
  ProtoReader reader = reader_of(message.bytes());
  auto field = reader.next();
  ASSERT_TRUE(field);
  EXPECT_EQ(reader.integer(*field), -3);
  field = reader.next();
  EXPECT_EQ(field->kind, ProtoField::Kind::kFixed32);
  EXPECT_EQ(field->value, 0x3FC00000U);
  field = reader.next();
  EXPECT_EQ(field->kind, ProtoField::Kind::kFixed64);
  field = reader.next();
  EXPECT_EQ(field->number, 100U);
  ProtoReader nested = reader.message(*field);
  EXPECT_EQ(nested.text(*nested.next()), "Conv");
  EXPECT_FALSE(nested.next());
  EXPECT_FALSE(reader.next());
}

TEST(ProtoReader, IntegersComeAloneOrPacked) {
  std::vector<std::int64_t> values;
  const std::string bytes("\x08\x05\x0a\x03\x01\x80\x01", 7);
  ProtoReader reader = reader_of(bytes);
  while (const auto field = reader.next()) reader.integers(*field, 3, values);
  EXPECT_THAT(values, ElementsAre(5, 1, 128));
  ProtoReader again = reader_of(bytes);
  std::vector<std::int64_t> full(2);
  static_cast<void>(again.next());
  EXPECT_THROW(again.integers(*again.next(), 3, full), Error);
}

TEST(ProtoReader, EveryCutIsRefused) {
  ProtoMessage message;
  message.add_text(7, std::string(200, 'x'));
  const std::string bytes = message.bytes();
  for (std::size_t length = 1; length < bytes.size(); ++length) {
    EXPECT_THAT(proto_refusal(bytes.substr(0, length)), HasSubstr("the message: m.pb")) << length;
  }
}

TEST(ProtoReader, RefusesLengthsAndNumbersBeyondTheirRange) {
  const std::string most(9, '\xff');
  EXPECT_THAT(proto_refusal("\x0a" + most + "\x01"), HasSubstr("18446744073709551615 bytes"));
  EXPECT_THAT(proto_refusal("\x08" + most + "\x02"), HasSubstr("at most 64 bits"));
  EXPECT_THAT(proto_refusal("\x08" + most + "\xff\x01"), HasSubstr("at most 64 bits"));
  EXPECT_THAT(proto_refusal(std::string(1, '\0')), HasSubstr("a field from 1"));
  EXPECT_THAT(proto_refusal(most + "\x01"), HasSubstr("a field from 1"));
  EXPECT_THAT(proto_refusal("\x0b"), HasSubstr("wire type 3"));
  EXPECT_THAT(proto_refusal(std::string("\x0d\0\0", 3)), HasSubstr("4 bytes"));
}

TEST(ProtoReader, RefusesFieldsOfAnotherKind) {
  ProtoMessage message;
  message.add_integer(1, 5);
  message.add_text(2, "x");
  ProtoReader reader = reader_of(message.bytes());
  const auto number = reader.next(), text = reader.next();
  ASSERT_TRUE(number && text);
  EXPECT_THAT(message_of([&] { static_cast<void>(reader.message(*number)); }),
              HasSubstr("a message in field 1, got a number"));
  EXPECT_THAT(message_of([&] { static_cast<void>(reader.text(*number)); }),
              HasSubstr("a text in field 1, got a number"));
  EXPECT_THAT(message_of([&] { static_cast<void>(reader.integer(*text)); }),
              HasSubstr("an integer in field 2, got something else"));
}

}  // namespace
}  // namespace stoker::detail
