// c10d's store for ranks that share a secret. Rank 0 keeps the keys in its own memory, behind a
// gate (store_gate.h); the others reach them through connections that are encrypted. c10d's own
// TCPStore is not used: it serves whoever connects.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "stoker/distributed/detail/key_table.h"

namespace stoker::detail {

// Any thread. What cannot be answered in time is a std::runtime_error.
class GuardedStore : public c10d::Store {
 public:
  using Ask = std::function<StoreReply(const StoreRequest&)>;
  GuardedStore(Ask ask, std::chrono::milliseconds timeout)
      : c10d::Store(timeout), ask_(std::move(ask)) {}

  c10::intrusive_ptr<c10d::Store> clone() override;
  using c10d::Store::set;
  void set(const std::string& key, const std::vector<std::uint8_t>& value) override;
  std::vector<std::uint8_t> get(const std::string& key) override;
  std::int64_t add(const std::string& key, std::int64_t value) override;
  bool deleteKey(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  std::int64_t getNumKeys() override;
  void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
  void wait(const std::vector<std::string>& keys,
            const std::chrono::milliseconds& timeout) override;

 private:
  // Asks again until the keys are there.
  StoreReply wait_for(StoreRequest request, std::chrono::milliseconds timeout);

  Ask ask_;
};

struct KeptStore {
  c10::intrusive_ptr<c10d::Store> store;
  std::function<std::string()> refusals;  // see StoreGate
};
// For rank 0: listens until the store is gone. Takes the descriptor.
[[nodiscard]] KeptStore keep_store(int listener, const std::string& secret,
                                   std::chrono::milliseconds timeout);

// For the others. Tries until the timeout, looking the name up again each time, until something
// answers that knows the secret; std::runtime_error where nothing does. Throws Error as soon as the
// secret of this rank is refused.
[[nodiscard]] c10::intrusive_ptr<c10d::Store> join_store(const std::string& host,
                                                         std::uint16_t port,
                                                         const std::string& secret,
                                                         std::chrono::milliseconds timeout);

}  // namespace stoker::detail
