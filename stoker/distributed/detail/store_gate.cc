#include "stoker/distributed/detail/store_gate.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include "stoker/distributed/detail/secure_channel.h"

namespace stoker::detail {
namespace {

using Clock = std::chrono::steady_clock;

// To take one answer; a rank that reads nothing for so long is lost anyway.
constexpr auto kAnswerPatience = std::chrono::seconds(60);

}  // namespace

StoreGate::StoreGate(int listener, std::string secret, KeyTable& keys)
    : listener_(listener),
      secret_(std::move(secret)),
      keys_(keys),
      accepting_([this] { accept_visitors(); }) {}

StoreGate::~StoreGate() {
  closing_ = true;
  ::shutdown(listener_.number, SHUT_RDWR);
  accepting_.join();
  keys_.close();
  for (Visitor& visitor : visitors_) ::shutdown(visitor.socket.number, SHUT_RDWR);
  visitors_.clear();
}

std::string StoreGate::refusals() const {
  const std::lock_guard lock(mutex_);
  if (refused_ == 0) return "";
  return fmt::format("{} connection{} refused, the last from {}", refused_,
                     refused_ == 1 ? " was" : "s were", last_refused_);
}

void StoreGate::note_refusal(const std::string& from, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  ++refused_;
  last_refused_ = fmt::format("{}: {}", from, reason);
}

void StoreGate::accept_visitors() {
  while (!closing_) {
    pollfd waiting{.fd = listener_.number, .events = POLLIN, .revents = 0};
    ::poll(&waiting, 1, -1);
    std::string from;
    const int socket = closing_ ? -1 : accept_at(listener_.number, from);
    if (socket < 0) {
      // No descriptor is free, perhaps: those of strangers will be.
      if (!closing_) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      continue;
    }
    make_room();
    Visitor& visitor = visitors_.emplace_back(socket, std::move(from));
    try {
      visitor.thread = std::jthread([this, &visitor] { attend(visitor); });
    } catch (const std::system_error&) {
      visitors_.pop_back();  // no thread is free: as if it had not come
    }
  }
}

void StoreGate::attend(Visitor& visitor) {
  try {
    serve(visitor);
  } catch (const std::exception& error) {
    if (visitor.standing != Visitor::Standing::kAdmitted && !closing_)
      note_refusal(visitor.from, error.what());
  }
  ::shutdown(visitor.socket.number, SHUT_RDWR);
  visitor.gone = true;
}

void StoreGate::make_room() {
  visitors_.remove_if([](const Visitor& visitor) { return visitor.gone.load(); });
  std::size_t strangers = std::ranges::count(visitors_, Visitor::Standing::kStranger,
                                             [](const Visitor& v) { return v.standing.load(); });
  for (Visitor& visitor : visitors_) {
    if (strangers < kMostStrangers) return;
    if (!visitor.leave(Visitor::Standing::kShut)) continue;
    ::shutdown(visitor.socket.number, SHUT_RDWR);
    --strangers;
  }
}

void StoreGate::serve(Visitor& visitor) const {
  SecureChannel channel =
      SecureChannel::answer(visitor.socket.number, secret_, Clock::now() + kPatience,
                            [&visitor] { return visitor.leave(Visitor::Standing::kAdmitted); });
  while (true) {
    const auto request = parse_request(channel.receive(Clock::time_point::max()));
    if (!request) return;
    channel.send(bytes_of(keys_.answer(*request)), Clock::now() + kAnswerPatience);
  }
}

}  // namespace stoker::detail
