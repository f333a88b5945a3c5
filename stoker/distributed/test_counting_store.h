// A store that counts what passes through it to another one: requests and the bytes of keys and
// values, both ways. What the protocol adds is not counted.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace stoker::test {

struct StoreTraffic {
  std::atomic<std::uint64_t> requests{0}, bytes{0};
};

class CountingStore final : public c10d::Store {
 public:
  CountingStore(c10::intrusive_ptr<c10d::Store> store, std::shared_ptr<StoreTraffic> traffic)
      : c10d::Store(store->getTimeout()), store_(std::move(store)), traffic_(std::move(traffic)) {}

  c10::intrusive_ptr<c10d::Store> clone() override {
    return c10::make_intrusive<CountingStore>(store_->clone(), traffic_);
  }
  using c10d::Store::set;
  void set(const std::string& key, const std::vector<std::uint8_t>& value) override {
    count(key.size() + value.size());
    store_->set(key, value);
  }
  std::vector<std::uint8_t> get(const std::string& key) override {
    std::vector<std::uint8_t> value = store_->get(key);
    count(key.size() + value.size());
    return value;
  }
  std::int64_t add(const std::string& key, std::int64_t value) override {
    count(key.size() + sizeof value);
    return store_->add(key, value);
  }
  bool deleteKey(const std::string& key) override {
    count(key.size());
    return store_->deleteKey(key);
  }
  bool check(const std::vector<std::string>& keys) override {
    count(size_of(keys));
    return store_->check(keys);
  }
  std::int64_t getNumKeys() override {
    count(0);
    return store_->getNumKeys();
  }
  void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
  void wait(const std::vector<std::string>& keys,
            const std::chrono::milliseconds& timeout) override {
    count(size_of(keys));
    store_->wait(keys, timeout);
  }

  [[nodiscard]] bool hasExtendedApi() const override { return store_->hasExtendedApi(); }
  void append(const std::string& key, const std::vector<std::uint8_t>& value) override {
    count(key.size() + value.size());
    store_->append(key, value);
  }
  std::vector<std::vector<std::uint8_t>> multiGet(const std::vector<std::string>& keys) override {
    auto values = store_->multiGet(keys);
    count(size_of(keys) + size_of(values));
    return values;
  }
  void multiSet(const std::vector<std::string>& keys,
                const std::vector<std::vector<std::uint8_t>>& values) override {
    count(size_of(keys) + size_of(values));
    store_->multiSet(keys, values);
  }

 private:
  template <class Pieces>
  static std::uint64_t size_of(const Pieces& pieces) {
    std::uint64_t size = 0;
    for (const auto& piece : pieces) size += piece.size();
    return size;
  }
  void count(std::uint64_t bytes) {
    ++traffic_->requests;
    traffic_->bytes += bytes;
  }

  c10::intrusive_ptr<c10d::Store> store_;
  std::shared_ptr<StoreTraffic> traffic_;
};

}  // namespace stoker::test
