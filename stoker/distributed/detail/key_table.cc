#include "stoker/distributed/detail/key_table.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace stoker::detail {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kWordLengthBytes = 4, kNumberBytes = 8;

void put(std::string& bytes, std::uint64_t number, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xff);
}

// Lowest byte first; removes what it has read. The caller has checked the length.
std::uint64_t take(std::string_view& bytes, std::size_t count) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < count; ++i) {
    number |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  bytes.remove_prefix(count);
  return number;
}

bool fits(StoreCall call, std::size_t words) {
  switch (call) {
    case StoreCall::kSet:
      return words == 2;
    case StoreCall::kGet:
    case StoreCall::kAdd:
    case StoreCall::kRemove:
      return words == 1;
    case StoreCall::kWait:
    case StoreCall::kCheck:
      return true;
    case StoreCall::kCount:
      return words == 0;
  }
  return false;
}

}  // namespace

std::string bytes_of(const StoreRequest& request) {
  std::string bytes(1, static_cast<char>(request.call));
  put(bytes, static_cast<std::uint64_t>(request.number), kNumberBytes);
  for (const std::string& word : request.words) {
    put(bytes, word.size(), kWordLengthBytes);
    bytes += word;
  }
  return bytes;
}

std::optional<StoreRequest> parse_request(std::string_view bytes) {
  if (bytes.size() < 1 + kNumberBytes) return std::nullopt;
  const std::uint64_t call = take(bytes, 1);
  if (call > static_cast<std::uint64_t>(StoreCall::kCount)) return std::nullopt;
  StoreRequest request{.call = static_cast<StoreCall>(call)};
  request.number = static_cast<std::int64_t>(take(bytes, kNumberBytes));
  while (!bytes.empty()) {
    if (bytes.size() < kWordLengthBytes) return std::nullopt;
    const std::uint64_t length = take(bytes, kWordLengthBytes);
    if (length > bytes.size()) return std::nullopt;
    request.words.emplace_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  if (!fits(request.call, request.words.size())) return std::nullopt;
  return request;
}

std::string bytes_of(const StoreReply& reply) {
  std::string bytes(1, reply.done ? '\1' : '\0');
  put(bytes, static_cast<std::uint64_t>(reply.number), kNumberBytes);
  return bytes + reply.value;
}

std::optional<StoreReply> parse_reply(std::string_view bytes) {
  if (bytes.size() < 1 + kNumberBytes) return std::nullopt;
  const std::uint64_t done = take(bytes, 1);
  if (done > 1) return std::nullopt;
  const auto number = static_cast<std::int64_t>(take(bytes, kNumberBytes));
  return StoreReply{.done = done == 1, .number = number, .value = std::string(bytes)};
}

bool KeyTable::has_all(const std::vector<std::string>& keys) const {
  return std::ranges::all_of(keys, [&](const std::string& key) { return values_.contains(key); });
}

bool KeyTable::wait_for(const StoreRequest& request, std::unique_lock<std::mutex>& lock) {
  const auto most = std::clamp<std::int64_t>(request.number, 0, kLongestWait.count());
  changed_.wait_for(lock, milliseconds(most), [&] { return closed_ || has_all(request.words); });
  return has_all(request.words);
}

StoreReply KeyTable::add(const std::string& key, std::int64_t number) {
  std::int64_t sum = 0;
  if (const auto found = values_.find(key); found != values_.end()) {
    const std::string& text = found->second;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), sum);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return {};
  }
  if (__builtin_add_overflow(sum, number, &sum)) return {};
  values_.insert_or_assign(key, std::to_string(sum));
  return {.done = true, .number = sum};
}

StoreReply KeyTable::answer(const StoreRequest& request) {
  std::unique_lock lock(mutex_);
  const std::vector<std::string>& words = request.words;
  switch (request.call) {
    case StoreCall::kSet:
      values_.insert_or_assign(words[0], words[1]);
      changed_.notify_all();
      return {.done = true};
    case StoreCall::kGet:
      if (!wait_for(request, lock)) return {};
      return {.done = true, .value = values_.at(words[0])};
    case StoreCall::kWait:
      return {.done = wait_for(request, lock)};
    case StoreCall::kCheck:
      return {.done = has_all(words)};
    case StoreCall::kAdd: {
      StoreReply reply = add(words[0], request.number);
      changed_.notify_all();
      return reply;
    }
    case StoreCall::kRemove:
      return {.done = values_.erase(words[0]) > 0};
    case StoreCall::kCount:
      return {.done = true, .number = static_cast<std::int64_t>(values_.size())};
  }
  return {};
}

void KeyTable::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

}  // namespace stoker::detail
