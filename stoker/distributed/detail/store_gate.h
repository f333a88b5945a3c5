// Who may use rank 0's keys: every connection to the port where the ranks meet must first prove
// that it knows the secret. Strangers are refused, and cost at most kMostStrangers connections of
// kPatience each. Without LibTorch.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "stoker/distributed/detail/key_table.h"
#include "stoker/distributed/detail/network.h"

namespace stoker::detail {

class StoreGate {
 public:
  static constexpr std::chrono::milliseconds kPatience{5000};  // for a proof
  static constexpr std::size_t kMostStrangers = 64;  // at a time; one more closes the oldest

  // Takes the descriptor that listens. The keys must outlive the gate.
  StoreGate(int listener, std::string secret, KeyTable& keys);
  ~StoreGate();
  StoreGate(const StoreGate&) = delete;
  StoreGate& operator=(const StoreGate&) = delete;

  // "3 connections were refused, the last from 10.0.0.9: another secret"; empty where none was.
  [[nodiscard]] std::string refusals() const;

 private:
  struct Visitor {
    enum class Standing { kStranger, kAdmitted, kShut };

    Descriptor socket;
    std::string from;
    std::atomic<Standing> standing = Standing::kStranger;  // changes once
    std::atomic<bool> gone = false;
    std::jthread thread = {};

    [[nodiscard]] bool leave(Standing for_this) {
      Standing now = Standing::kStranger;
      return standing.compare_exchange_strong(now, for_this);
    }

    Visitor(int opened, std::string address) : socket(opened), from(std::move(address)) {}
  };

  void accept_visitors();
  void make_room();
  void attend(Visitor& visitor);
  void serve(Visitor& visitor) const;
  void note_refusal(const std::string& from, const std::string& reason);

  Descriptor listener_;
  const std::string secret_;
  KeyTable& keys_;
  std::atomic<bool> closing_ = false;
  std::list<Visitor> visitors_;  // of the accepting thread alone, until that has ended
  mutable std::mutex mutex_;     // of the refusals
  std::uint64_t refused_ = 0;
  std::string last_refused_;
  std::jthread accepting_;  // the last: it uses all of the others
};

}  // namespace stoker::detail
