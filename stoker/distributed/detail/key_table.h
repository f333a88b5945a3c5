// The keys that the ranks of a job share, and the requests with which a rank reads and writes them.
// Without LibTorch.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::detail {

enum class StoreCall : std::uint8_t {
  kSet,     // words: key, value
  kGet,     // words: key; number: milliseconds to wait for it
  kWait,    // words: keys; number: milliseconds to wait for all of them
  kCheck,   // words: keys; done where all are there
  kAdd,     // words: key; number: what to add to it
  kRemove,  // words: key
  kCount,   // of all keys
};

struct StoreRequest {
  StoreCall call = StoreCall::kCount;
  std::int64_t number = 0;
  std::vector<std::string> words = {};

  friend bool operator==(const StoreRequest&, const StoreRequest&) = default;
};

struct StoreReply {
  bool done = false;
  std::int64_t number = 0;
  std::string value = {};

  friend bool operator==(const StoreReply&, const StoreReply&) = default;
};

// As bytes, and back; nothing where the bytes are no request that can be answered. Lengths are
// checked before memory is taken.
[[nodiscard]] std::string bytes_of(const StoreRequest& request);
[[nodiscard]] std::optional<StoreRequest> parse_request(std::string_view bytes);
[[nodiscard]] std::string bytes_of(const StoreReply& reply);
[[nodiscard]] std::optional<StoreReply> parse_reply(std::string_view bytes);

// Any thread.
class KeyTable {
 public:
  // A wait is cut off, not done, so that no request takes longer.
  static constexpr std::chrono::milliseconds kLongestWait{500};

  [[nodiscard]] StoreReply answer(const StoreRequest& request);
  // All waits end, now and later.
  void close();

 private:
  [[nodiscard]] bool has_all(const std::vector<std::string>& keys) const;
  [[nodiscard]] bool wait_for(const StoreRequest& request, std::unique_lock<std::mutex>& lock);
  [[nodiscard]] StoreReply add(const std::string& key, std::int64_t number);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> values_;
  bool closed_ = false;
};

}  // namespace stoker::detail
