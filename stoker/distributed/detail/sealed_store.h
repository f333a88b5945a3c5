// A store that others may write to (torchrun's agent keeps it) and whose values nobody else can
// make: each carries a proof, over its key too, that a rank with the secret wrote it. The names of
// an attempt's keys contain random numbers (attempt.h), so no value of an earlier one fits. Not
// protected: others can read and remove values, and write what ends the job with an error.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace stoker::detail {

class SealedStore : public c10d::Store {
 public:
  SealedStore(c10::intrusive_ptr<c10d::Store> store, std::string secret)
      : c10d::Store(store->getTimeout()), store_(std::move(store)), secret_(std::move(secret)) {}

  c10::intrusive_ptr<c10d::Store> clone() override;
  using c10d::Store::set;
  void set(const std::string& key, const std::vector<std::uint8_t>& value) override;
  // Throws Error where the value is a stranger's.
  std::vector<std::uint8_t> get(const std::string& key) override;
  // A plain number without a proof.
  std::int64_t add(const std::string& key, std::int64_t value) override;
  bool deleteKey(const std::string& key) override;
  // A stranger's value counts as none: the rank that should have written it may still come.
  bool check(const std::vector<std::string>& keys) override;
  std::int64_t getNumKeys() override;
  void wait(const std::vector<std::string>& keys) override { store_->wait(keys); }
  void wait(const std::vector<std::string>& keys,
            const std::chrono::milliseconds& timeout) override {
    store_->wait(keys, timeout);
  }
  void setTimeout(const std::chrono::milliseconds& timeout) override;

 private:
  c10::intrusive_ptr<c10d::Store> store_;
  std::string secret_;
};

}  // namespace stoker::detail
