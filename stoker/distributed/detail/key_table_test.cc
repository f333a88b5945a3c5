#include "stoker/distributed/detail/key_table.h"

#include <thread>

#include <gtest/gtest.h>

namespace stoker::detail {
namespace {

std::vector<StoreRequest> valid_requests() {
  return {{.call = StoreCall::kSet, .words = {"key", std::string("a\0b", 3)}},
          {.call = StoreCall::kGet, .number = 7, .words = {""}},
          {.call = StoreCall::kWait, .number = 1, .words = {"a", "b", "c"}},
          {.call = StoreCall::kCheck, .words = {}},
          {.call = StoreCall::kAdd, .number = -3, .words = {"n"}},
          {.call = StoreCall::kRemove, .words = {"n"}},
          {.call = StoreCall::kCount}};
}

TEST(StoreRequest, ReadsBackAndIsRefusedWhereItEndsEarly) {
  for (const StoreRequest& request : valid_requests()) {
    const std::string bytes = bytes_of(request);
    EXPECT_EQ(parse_request(bytes), request);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      const auto shorter = parse_request(std::string_view(bytes).substr(0, length));
      EXPECT_NE(shorter, request) << length;
    }
  }
}

TEST(StoreRequest, NonsenseIsRefused) {
  EXPECT_EQ(parse_request(""), std::nullopt);
  EXPECT_EQ(parse_request(std::string(9, '\x7f')), std::nullopt);        // unknown call
  EXPECT_EQ(parse_request(std::string(9, '\0')), std::nullopt);          // set without words
  EXPECT_EQ(parse_request('\6' + std::string(12, '\0')), std::nullopt);  // count with a word
  EXPECT_EQ(parse_request('\1' + std::string(8, '\0') +
                          "\xff\xff\xff\xff"
                          "a"),
            std::nullopt);
  EXPECT_EQ(parse_reply("\2nnnnnnnn"), std::nullopt);
  EXPECT_EQ(parse_reply("\1nnn"), std::nullopt);
}

TEST(StoreReply, ReadsBack) {
  const StoreReply reply{.done = true, .number = -5, .value = std::string("x\0y", 3)};
  EXPECT_EQ(parse_reply(bytes_of(reply)), reply);
  EXPECT_EQ(parse_reply(bytes_of(StoreReply{})), StoreReply{});
}

TEST(KeyTable, KeepsCountsAndRemoves) {
  KeyTable keys;
  EXPECT_FALSE(keys.answer({.call = StoreCall::kCheck, .words = {"a"}}).done);
  EXPECT_TRUE(keys.answer({.call = StoreCall::kSet, .words = {"a", "value"}}).done);
  EXPECT_EQ(keys.answer({.call = StoreCall::kGet, .words = {"a"}}).value, "value");
  EXPECT_EQ(keys.answer({.call = StoreCall::kAdd, .number = 2, .words = {"n"}}).number, 2);
  EXPECT_EQ(keys.answer({.call = StoreCall::kAdd, .number = 3, .words = {"n"}}).number, 5);
  EXPECT_EQ(keys.answer({.call = StoreCall::kGet, .words = {"n"}}).value, "5");
  EXPECT_FALSE(keys.answer({.call = StoreCall::kAdd, .number = 1, .words = {"a"}}).done);
  EXPECT_EQ(keys.answer({.call = StoreCall::kCount}).number, 2);
  EXPECT_TRUE(keys.answer({.call = StoreCall::kRemove, .words = {"a"}}).done);
  EXPECT_FALSE(keys.answer({.call = StoreCall::kRemove, .words = {"a"}}).done);
}

TEST(KeyTable, AWaitEndsWithTheKeyOrItsTimeOrTheTable) {
  KeyTable keys;
  const StoreRequest wait{.call = StoreCall::kWait, .number = 1 << 30, .words = {"a", "b"}};
  EXPECT_TRUE(keys.answer({.call = StoreCall::kSet, .words = {"a", "1"}}).done);
  EXPECT_FALSE(keys.answer(wait).done);  // cut off after kLongestWait
  std::jthread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_TRUE(keys.answer({.call = StoreCall::kSet, .words = {"b", "2"}}).done);
  });
  EXPECT_TRUE(keys.answer(wait).done);
  keys.close();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(keys.answer({.call = StoreCall::kGet, .number = 500, .words = {"never"}}).done);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(400));
}

}  // namespace
}  // namespace stoker::detail
