// What every test of the fake device needs: the order of jobs, and nothing wrong or left at its
// end.
#pragma once

#include <ostream>
#include <string>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "tests/fake_device/fake_device.h"

namespace stoker::fake {

// Each test runs late, and in a random order.
inline const auto kOrders = ::testing::Values(Order{}, Order{.seed = 1});
inline std::string order_name(const ::testing::TestParamInfo<Order>& info) {
  return info.param.seed ? "Order" + std::to_string(*info.param.seed) : "Late";
}

inline void PrintTo(const Order& order, std::ostream* out) {
  *out << (order.seed ? "order " + std::to_string(*order.seed) : "late");
}

class Fixture : public ::testing::TestWithParam<Order> {
 protected:
  void SetUp() override {
    install();
    at::set_num_threads(1);  // as the device's kernels have, so that bits can be compared
    machine().set_order(GetParam());
    static_cast<void>(machine().take_violations());
    for (int i = 0; i < kDevices; ++i) before_[i] = machine().counters(i);
  }
  void TearDown() override {
    machine().refuse_allocation_after(-1);
    for (int i = 0; i < kDevices; ++i) {
      machine().set_memory_limit(i, ~std::uint64_t{0});
      machine().wait_for_device(i);
      EXPECT_EQ(machine().counters(i).live_blocks, before_[i].live_blocks) << "device " << i;
    }
    for (const Violation& each : machine().take_violations()) ADD_FAILURE() << each.text;
  }

  static Machine& machine() { return Machine::instance(); }
  // What device 0 did in this test.
  [[nodiscard]] Counters since_begin(int device = 0) const {
    Counters now = machine().counters(device);
    now.allocations -= before_[device].allocations;
    now.jobs -= before_[device].jobs;
    now.late_copies -= before_[device].late_copies;
    now.overtaking -= before_[device].overtaking;
    return now;
  }
  // Whether the machine found this, and nothing else; forgets it.
  static ::testing::AssertionResult found_only(Fault fault, const std::string& text = "") {
    const std::vector<Violation> all = machine().take_violations();
    if (all.empty()) return ::testing::AssertionFailure() << "nothing was found";
    for (const Violation& each : all) {
      if (each.fault == fault && each.text.find(text) != std::string::npos) continue;
      return ::testing::AssertionFailure() << each.text;
    }
    return ::testing::AssertionSuccess() << all.front().text;
  }

  // Whether it found this, perhaps with more that follows from it; forgets all.
  static ::testing::AssertionResult found_any(Fault fault) {
    std::string all;
    for (const Violation& each : machine().take_violations()) {
      if (each.fault == fault) return ::testing::AssertionSuccess();
      all += each.text + "\n";
    }
    return ::testing::AssertionFailure() << "found: " << all;
  }

 private:
  Counters before_[kDevices];
};

}  // namespace stoker::fake
