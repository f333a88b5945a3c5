#include "stoker/distributed/detail/guarded_store.h"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/distributed/detail/network.h"
#include "stoker/distributed/detail/secure_channel.h"
#include "stoker/distributed/detail/store_gate.h"

namespace stoker::detail {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// For one try: longer than a proof takes on a bad wire, and soon over where nothing answers.
constexpr milliseconds kTry{3000}, kBetweenTries{50};

struct Kept {
  KeyTable keys;
  StoreGate gate;
  Kept(int listener, const std::string& secret) : gate(listener, secret, keys) {}
};

// One at a time on one connection. After a failure nothing can be asked again: nobody knows which
// answer would come next.
class Asker {
 public:
  Asker(int socket, SecureChannel channel, milliseconds patience)
      : socket_(socket), channel_(std::move(channel)), patience_(patience) {}

  StoreReply ask(const StoreRequest& request) {
    const std::lock_guard lock(mutex_);
    if (std::exchange(broken_, true)) throw std::runtime_error("the connection to rank 0 is lost");
    channel_.send(bytes_of(request), Clock::now() + patience_);
    auto reply = parse_reply(channel_.receive(Clock::now() + KeyTable::kLongestWait + patience_));
    if (!reply) throw std::runtime_error("rank 0 sends what this version does not know");
    broken_ = false;
    return *std::move(reply);
  }

 private:
  std::mutex mutex_;
  Descriptor socket_;
  SecureChannel channel_;
  milliseconds patience_;
  bool broken_ = false;
};

std::shared_ptr<Asker> try_to_join(const std::string& host, std::uint16_t port,
                                   const std::string& secret, milliseconds patience,
                                   Clock::time_point deadline) {
  Descriptor socket(connect_to(host, port, deadline));
  SecureChannel channel = SecureChannel::call(socket.number, secret, deadline);
  return std::make_shared<Asker>(socket.take(), std::move(channel), patience);
}

}  // namespace

c10::intrusive_ptr<c10d::Store> GuardedStore::clone() {
  return c10::make_intrusive<GuardedStore>(ask_, timeout_);
}

void GuardedStore::set(const std::string& key, const std::vector<std::uint8_t>& value) {
  ask_({.call = StoreCall::kSet, .words = {key, std::string(value.begin(), value.end())}});
}

std::vector<std::uint8_t> GuardedStore::get(const std::string& key) {
  const StoreReply reply = wait_for({.call = StoreCall::kGet, .words = {key}}, timeout_);
  return {reply.value.begin(), reply.value.end()};
}

std::int64_t GuardedStore::add(const std::string& key, std::int64_t value) {
  const StoreReply reply = ask_({.call = StoreCall::kAdd, .number = value, .words = {key}});
  if (!reply.done) throw std::runtime_error(fmt::format("key \"{}\" is no number", key));
  return reply.number;
}

bool GuardedStore::deleteKey(const std::string& key) {
  return ask_({.call = StoreCall::kRemove, .words = {key}}).done;
}

bool GuardedStore::check(const std::vector<std::string>& keys) {
  return ask_({.call = StoreCall::kCheck, .words = keys}).done;
}

std::int64_t GuardedStore::getNumKeys() { return ask_({.call = StoreCall::kCount}).number; }

void GuardedStore::wait(const std::vector<std::string>& keys, const milliseconds& timeout) {
  wait_for({.call = StoreCall::kWait, .words = keys}, timeout);
}

StoreReply GuardedStore::wait_for(StoreRequest request, milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    request.number = std::max<std::int64_t>(0, left.count());
    StoreReply reply = ask_(request);
    if (reply.done) return reply;
    if (Clock::now() >= deadline) {
      throw std::runtime_error(fmt::format("nobody wrote {} within {} ms",
                                           fmt::join(request.words, ", "), timeout.count()));
    }
  }
}

KeptStore keep_store(int listener, const std::string& secret, milliseconds timeout) {
  const auto kept = std::make_shared<Kept>(listener, secret);
  return {c10::make_intrusive<GuardedStore>(
              [kept](const StoreRequest& request) { return kept->keys.answer(request); }, timeout),
          [kept] { return kept->gate.refusals(); }};
}

c10::intrusive_ptr<c10d::Store> join_store(const std::string& host, std::uint16_t port,
                                           const std::string& secret, milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (true) {
    std::string reason;
    try {
      const auto asker =
          try_to_join(host, port, secret, timeout, std::min(deadline, Clock::now() + kTry));
      return c10::make_intrusive<GuardedStore>(
          [asker](const StoreRequest& request) { return asker->ask(request); }, timeout);
    } catch (const RefusedError&) {
      throw Error({.what = "rank 0 refused this rank",
                   .expected = "the secret that rank 0 has",
                   .found = "another",
                   .hint = "Give all ranks the same `dist_secret_file`, or STOKER_DIST_SECRET"});
    } catch (const std::exception& error) {
      reason = error.what();
    }
    if (Clock::now() + kBetweenTries >= deadline) {
      throw std::runtime_error("nothing that knows the secret answers there: " + reason);
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

}  // namespace stoker::detail
