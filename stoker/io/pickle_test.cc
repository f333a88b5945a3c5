#include "stoker/io/pickle.h"

#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"
#include "stoker/io/test_torch_files.h"

namespace stoker {
namespace {

using pickles::global;
using pickles::integer;
using pickles::text;
using pickles::whole;
using ::testing::HasSubstr;
using Kind = PickleValue::Kind;
using Use = PickleGlobal::Use;

constexpr PickleGlobal kNames[] = {{"a.Name", Use::kName},
                                   {"a.function", Use::kCall},
                                   {"a.Dict", Use::kDict},
                                   {"a.b.c", Use::kCall}};

PickleOptions options() {
  return {.globals = kNames, .persistent = true, .file = "p.pkl", .offset = 1000};
}

// Keeps the bytes that the pickle points into.
struct ParsedPickle {
  std::string bytes;
  Pickle pickle;
  explicit ParsedPickle(std::string content)
      : bytes(std::move(content)),
        pickle(parse_pickle(std::as_bytes(std::span(bytes)), options())) {}
  const PickleValue* operator->() const { return &pickle.root(); }
  [[nodiscard]] PickleValue item(std::size_t i) const { return pickle.items(pickle.root())[i]; }
};

ParsedPickle parsed(const std::string& value) { return ParsedPickle(whole(value)); }

ErrorDetails pickle_refusal(const std::string& bytes) {
  // Of exactly this size, so that the sanitizer sees a read past the end.
  const std::vector<char> exact(bytes.begin(), bytes.end());
  const auto details =
      error_of([&] { (void)parse_pickle(std::as_bytes(std::span(exact)), options()); });
  EXPECT_EQ(details.path, "p.pkl");
  EXPECT_GE(details.offset.value_or(0), 1000U);
  EXPECT_LE(details.offset.value_or(0), 1000 + bytes.size());
  EXPECT_FALSE(details.expected.empty());
  EXPECT_FALSE(details.hint.empty());
  return details;
}

std::string refused(const std::string& value) { return pickle_refusal(whole(value)).found; }

TEST(Pickle, ReadsNumbers) {
  const auto number = [](const std::string& value) { return parsed(value)->integer; };
  EXPECT_EQ(number("K\xFF"), 255);
  EXPECT_EQ(number("M\xFF\xFF"), 65535);
  EXPECT_EQ(number("J\xFF\xFF\xFF\xFF"), -1);
  EXPECT_EQ(number(std::string("J\x00\x00\x00\x80", 5)), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(number(std::string("\x8A\x00", 2)), 0);
  EXPECT_EQ(number("\x8A\x01\xFE"), -2);
  EXPECT_EQ(number(std::string("\x8A\x02\xFF\x00", 4)), 255);
  for (const std::int64_t value : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1},
                                   std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(number(integer(value)), value);
  }
  EXPECT_EQ(parsed(std::string("G\x3F\xF8\0\0\0\0\0\0", 9))->real(), 1.5);
  EXPECT_EQ(parsed("\x88")->kind, Kind::kBool);
  EXPECT_EQ(number("\x88"), 1);
  EXPECT_EQ(number("\x89"), 0);
  EXPECT_EQ(parsed("N")->kind, Kind::kNone);
}

TEST(Pickle, KeepsIntegersBeyond64BitsAsTheirBytes) {
  const ParsedPickle large = parsed("\x8A\x09" + std::string(9, '\x7F'));
  EXPECT_EQ(large->kind, Kind::kLong);
  EXPECT_EQ(large.pickle.text(large.pickle.root()), std::string(9, '\x7F'));
}

TEST(Pickle, ReadsTextOfPython2And3) {
  for (const std::string& value :
       {text("größe"), "U\x07" + std::string("größe"), "\x8C\x07" + std::string("größe"),
        "T" + pickles::little_endian(7, 4) + "größe"}) {
    const ParsedPickle found = parsed(value);
    EXPECT_EQ(found->kind, Kind::kText);
    EXPECT_EQ(found.pickle.text(found.pickle.root()), "größe");
  }
  const ParsedPickle none = parsed(text(""));
  EXPECT_EQ(none.pickle.text(none.pickle.root()), "");
}

TEST(Pickle, ReadsTuplesListsAndDicts) {
  const auto items = [](const std::string& value, Kind kind) {
    const ParsedPickle found = parsed(value);
    EXPECT_EQ(found->kind, kind);
    std::vector<std::int64_t> integers;
    for (const PickleValue& item : found.pickle.items(found.pickle.root())) {
      integers.push_back(item.integer);
    }
    return integers;
  };
  using Integers = std::vector<std::int64_t>;
  EXPECT_EQ(items(")", Kind::kTuple), Integers());
  EXPECT_EQ(items("K\1\x85", Kind::kTuple), Integers({1}));
  EXPECT_EQ(items("K\1K\2\x86", Kind::kTuple), Integers({1, 2}));
  EXPECT_EQ(items("K\1K\2K\3\x87", Kind::kTuple), Integers({1, 2, 3}));
  EXPECT_EQ(items("(K\1K\2K\3K\4t", Kind::kTuple), Integers({1, 2, 3, 4}));
  EXPECT_EQ(items("]K\1a(K\2K\3e", Kind::kList), Integers({1, 2, 3}));
  EXPECT_EQ(items("}K\1K\2s(K\3K\4K\5K\6u", Kind::kDict), Integers({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(items("}(u", Kind::kDict), Integers());
}

TEST(Pickle, TheMemoBringsValuesBack) {
  const ParsedPickle found = parsed("(K\5q\7K\6r\1\2\3\4h\7j\1\2\3\4\x94h\2t");
  std::vector<std::int64_t> integers;
  for (const PickleValue& item : found.pickle.items(found.pickle.root())) {
    integers.push_back(item.integer);
  }
  EXPECT_EQ(integers, (std::vector<std::int64_t>{5, 6, 5, 6, 6}));
  EXPECT_THAT(refused("h\1"), HasSubstr("none as 1"));
}

TEST(Pickle, AListMayContainItself) {
  const ParsedPickle found = parsed("]q\1h\1a");
  EXPECT_EQ(found.item(0).place, found->place);
  EXPECT_EQ(found.item(0).kind, Kind::kList);
}

TEST(Pickle, ACallIsARecordOfIt) {
  const ParsedPickle found = parsed(global("a", "function") + "K\3\x85R");
  EXPECT_EQ(found->kind, Kind::kCall);
  EXPECT_EQ(found.pickle.global(found.pickle.root()), "a.function");
  const auto arguments = found.pickle.items(found.item(0));
  ASSERT_EQ(arguments.size(), 1U);
  EXPECT_EQ(arguments[0].integer, 3);
}

TEST(Pickle, AStateIsKeptBesideTheArguments) {
  const ParsedPickle found = parsed(global("a", "function") + ")RK\7b");
  ASSERT_EQ(found.pickle.items(found.pickle.root()).size(), 2U);
  EXPECT_EQ(found.item(1).integer, 7);
}

TEST(Pickle, ADictMayBeMadeByACall) {
  for (const std::string& value :
       {global("a", "Dict") + ")R(K\1K\2u", global("a", "Dict") + ")\x81K\1K\2s",
        global("a", "Dict") + "]K\1K\2\x86" + "a\x85R",
        global("a", "Dict") + "]](K\1K\2ea\x85R}b"}) {
    const ParsedPickle found = parsed(value);
    EXPECT_EQ(found->kind, Kind::kDict);
    ASSERT_EQ(found.pickle.items(found.pickle.root()).size(), 2U);
    EXPECT_EQ(found.item(1).integer, 2);
  }
  EXPECT_THAT(refused(global("a", "Dict") + "K\1\x85R"), HasSubstr("other arguments"));
  EXPECT_THAT(refused(global("a", "Dict") + "]K\1\x85" + "a\x85R"), HasSubstr("something else"));
}

TEST(Pickle, ListsWhatLiesOutside) {
  const ParsedPickle found = parsed("(K\5QK\6Qt");
  ASSERT_EQ(found.pickle.persistent().size(), 2U);
  EXPECT_EQ(found.pickle.items(found.pickle.persistent()[1])[0].integer, 6);
  const std::string bytes = whole("K\5Q");
  EXPECT_THAT(message_of([&] { (void)parse_pickle(std::as_bytes(std::span(bytes)), {}); }),
              HasSubstr("refused: a reference to something outside"));
}

TEST(Pickle, EndsAtStop) {
  const ParsedPickle found(whole("K\5") + "whatever follows");
  EXPECT_EQ(found.pickle.bytes(), 5U);
  EXPECT_EQ(found->integer, 5);
}

TEST(Pickle, ReadsTheOpcodesOfProtocol4) {
  const std::string value = "\x80\x04\x95" + pickles::little_endian(99, 8) + "\x8C\x01" +
                            "a\x94\x8C\x08" + "function\x94\x93\x94)R.";
  const ParsedPickle found(value);
  EXPECT_EQ(found.pickle.global(found.pickle.root()), "a.function");
}

TEST(Pickle, RefusesEveryOtherNameByIt) {
  const auto refused_name = [](const std::string& module, const std::string& name) {
    EXPECT_EQ(refused(global(module, name)), fmt::format("refused: {}.{}", module, name));
    EXPECT_EQ(refused(text(module) + text(name) + "\x93"),
              fmt::format("refused: {}.{}", module, name));
  };
  refused_name("os", "system");
  refused_name("posix", "system");
  refused_name("builtins", "eval");
  refused_name("builtins", "getattr");
  refused_name("a", "Name2");
  refused_name("a", "name");
  refused_name("", "");
  // Through attributes of a known name, or around the dot.
  refused_name("a", "function.__globals__");
  refused_name("", "a.function");
  refused_name("a", "b.c");
  EXPECT_EQ(parsed(global("a.b", "c"))->kind, Kind::kGlobal);
  EXPECT_THAT(pickle_refusal(whole(global("os", "system"))).hint,
              HasSubstr("Nothing in the file was"));
}

TEST(Pickle, ANameInAMessageCannotCommandATerminal) {
  const std::string found = refused(global("\x1B[31m", std::string(150, 'x') + "\x07"));
  EXPECT_TRUE(std::ranges::all_of(found.substr(0, 160), [](char c) { return c >= 0x20; })) << found;
  EXPECT_THAT(pickle_refusal(whole(global(std::string(1000, 'a'), "b"))).expected,
              HasSubstr("a name of less than 200 bytes"));
}

TEST(Pickle, RefusesCallsOfWhatIsOnlyNamed) {
  EXPECT_EQ(refused(global("a", "Name") + ")R"), "refused: a call of a.Name");
  EXPECT_EQ(refused(global("a", "Name") + ")\x81"), "refused: a call of a.Name");
  EXPECT_EQ(refused("K\1)R"), "an integer");
  EXPECT_EQ(refused(global("a", "function") + "K\1R"), "an integer");
  EXPECT_EQ(refused(global("a", "function") + ")R)R"), "an object");  // what a call returned
}

TEST(Pickle, RefusesEveryOtherOpcodeByName) {
  EXPECT_EQ(refused("(ios\nsystem\n"), "refused: opcode INST of os.system");
  const std::pair<int, const char*> opcodes[] = {
      {'0', "POP"},          {'1', "POP_MARK"}, {'2', "DUP"},        {'o', "OBJ"},
      {'I', "INT"},          {'S', "STRING"},   {'g', "GET"},        {'p', "PUT"},
      {'P', "PERSID"},       {0x82, "EXT1"},    {0x92, "NEWOBJ_EX"}, {0x8B, "LONG4"},
      {0x97, "NEXT_BUFFER"}, {'B', "BINBYTES"}, {0x8F, "EMPTY_SET"}};
  for (const auto& [byte, name] : opcodes) {
    EXPECT_EQ(refused("K\1" + std::string(1, static_cast<char>(byte)) + "0\n0\n"),
              fmt::format("refused: opcode {}", name));
  }
}

TEST(Pickle, EveryByteIsAnOpcodeOrRefused) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string bytes = "\x80\x02" + std::string(1, static_cast<char>(byte)) +
                              std::string("\0\0\0\0\0\0\0\0\n\n.", 11);
    try {
      (void)parse_pickle(std::as_bytes(std::span(bytes)), options());
    } catch (const Error& error) {
      EXPECT_FALSE(error.details().found.empty()) << byte;
    }
  }
}

TEST(Pickle, RefusesStatesOfAnythingButDictsAndCalls) {
  for (const char* value : {"K\1}b", "]}b", ")}b", "N}b"}) {
    EXPECT_THAT(refused(value), HasSubstr("refused: a state for")) << value;
  }
  EXPECT_THAT(refused(global("a", "function") + "}b"), HasSubstr("a function or class"));
}

TEST(Pickle, ACutPickleIsRefusedAtEveryLength) {
  const std::string good = whole("}(" + text("key") + global("a", "function") + "(" + integer(5) +
                                 "M\1\2J\1\2\3\4K\1tRq\1r\2\3\4\5u");
  EXPECT_EQ(ParsedPickle(good)->kind, Kind::kDict);
  for (std::size_t size = 0; size < good.size(); ++size) {
    const std::vector<char> cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THROW((void)parse_pickle(std::as_bytes(std::span(cut)), options()), Error) << size;
  }
}

TEST(Pickle, LengthsAreCheckedBeforeTheyAreUsed) {
  for (const char* start : {"X\xFF\xFF\xFF\xFF", "T\xFF\xFF\xFF\x7F", "U\xFF", "\x8A\xFF"}) {
    const auto details = pickle_refusal(whole(start));
    EXPECT_THAT(details.expected, HasSubstr("more bytes of the pickle"));
    EXPECT_THAT(details.hint, HasSubstr("cut short"));
  }
}

TEST(Pickle, TheStackIsNotReadBelowAMarkOrItsEnd) {
  for (const char* value : {"", "a", "s", "R", "b", "Q", "\x85", "\x86", "t", "u", "e", "q\1",
                            "\x94", "\x93", "](a", "}K\1(s", "K\1(\x85t", "K\1(Q", "]K\1(b"}) {
    EXPECT_FALSE(pickle_refusal(whole(value)).found.empty()) << value;
  }
}

TEST(Pickle, EndsWithOneValue) {
  EXPECT_EQ(refused("K\1K\2"), "more");
  EXPECT_EQ(refused("K\1("), "none");
  EXPECT_EQ(refused("(K\1"), "more");
}

TEST(Pickle, ItemsComeInPairsAndGoIntoTheRightKind) {
  EXPECT_EQ(refused("}(K\1u"), "a key without one");
  EXPECT_EQ(refused("]K\1K\2s"), "a list");
  EXPECT_EQ(refused("}K\1a"), "a dict");
  EXPECT_EQ(refused(")(K\1e"), "a tuple");
}

TEST(Pickle, TheProtocolComesFirst) {
  EXPECT_THAT(pickle_refusal("K\1.").expected, HasSubstr("begins with the byte 0x80"));
  EXPECT_EQ(pickle_refusal("\x80\x01K\1.").found, "1");
  EXPECT_EQ(pickle_refusal("\x80\x06K\1.").found, "6");
  EXPECT_EQ(pickle_refusal(whole("\x80\x02K\1")).expected, "an opcode of a pickle");
}

TEST(Pickle, LevelsAreBounded) {
  EXPECT_EQ(parsed(std::string(100, '(') + std::string(100, 't'))->kind, Kind::kTuple);
  EXPECT_THAT(pickle_refusal(whole(std::string(101, '('))).expected,
              HasSubstr("at most 100 levels"));
}

TEST(Pickle, ValuesAreBounded) {
  EXPECT_THAT(pickle_refusal(whole("(" + std::string(2'000'001, 'N'))).expected,
              HasSubstr("at most 2000000 values"));
  // One list of pairs, made into a dict again and again.
  std::string bytes = "(]q\1";
  for (int i = 0; i < 1000; ++i)
    bytes +=
        "K\1K\2\x86"
        "a";
  for (int i = 0; i < 2000; ++i) bytes += global("a", "Dict") + "h\1\x85R";
  EXPECT_THAT(pickle_refusal(whole(bytes)).expected, HasSubstr("at most 2000000 values"));
  bytes = "K\1";
  for (int i = 0; i < 2'000'000; ++i) bytes += "q\1";
  EXPECT_THAT(pickle_refusal(whole(bytes)).expected, HasSubstr("at most 2000000 values"));
}

}  // namespace
}  // namespace stoker
