// The fake device itself: what it must find, it finds; what is allowed, it does.
#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "tests/fake_device/test_fixture.h"

namespace stoker::fake {
namespace {

class FakeDevice : public Fixture {
 protected:
  static c10::Stream other_stream(int index = 0) {
    return c10::impl::VirtualGuardImpl(c10::DeviceType::PrivateUse1)
        .getStreamFromGlobalPool(device(index));
  }
  static at::Tensor pinned(const at::Tensor& values) {
    at::Tensor tensor = at::empty(values.sizes(), values.options().pinned_memory(true));
    return tensor.copy_(values);
  }
};
INSTANTIATE_TEST_SUITE_P(Orders, FakeDevice, kOrders, order_name);

at::Tensor rows() { return at::arange(12, at::kFloat).reshape({3, 4}); }

TEST_P(FakeDevice, ComputesWhatTheCpuComputes) {
  const auto compute = [](const at::Tensor& x) {
    at::Tensor a = x.matmul(x.t()).relu().add_(1);
    a.select(0, 1).mul_(2);
    return at::cat({a.log_softmax(1), a.sum(1, true), a.flip(0)}, 1).transpose(0, 1).contiguous();
  };
  EXPECT_TRUE(at::equal(compute(rows().to(device(0))).cpu(), compute(rows())));
  EXPECT_EQ(rows().to(device(0)).sum().item<float>(), 66);
  EXPECT_EQ(rows().to(device(0)).gt(5).nonzero().size(0), 6);
}

TEST_P(FakeDevice, GradientsAreThoseOfTheCpu) {
  const auto gradient = [](const at::Device& where) {
    const at::Tensor x =
        at::arange(2 * 3 * 8 * 8, at::kFloat).reshape({2, 3, 8, 8}).div(100).to(where);
    at::Tensor weight =
        at::arange(4 * 3 * 3 * 3, at::kFloat).reshape({4, 3, 3, 3}).div(50).to(where);
    weight.requires_grad_(true);
    at::conv2d(x, weight, at::ones({4}).to(where), 1, 1).tanh().mean().backward();
    return weight.grad().cpu();
  };
  EXPECT_TRUE(at::equal(gradient(device(0)), gradient(at::kCPU)));
}

class FakeDeviceMemory : public FakeDevice {};
INSTANTIATE_TEST_SUITE_P(Orders, FakeDeviceMemory, ::testing::Values(Order{}), order_name);

TEST_P(FakeDeviceMemory, CannotBeTouchedByTheHost) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const at::Tensor x = rows().to(device(1));
  const volatile auto* const values = static_cast<const float*>(x.const_data_ptr());
  EXPECT_DEATH(static_cast<void>(*values), "the host touched memory of fake:1, in a block of 48");
}

TEST_P(FakeDevice, JobsRunOnlyWhenSomebodyWaits) {
  const at::Tensor from = pinned(rows());
  const at::Tensor to = at::empty_like(rows(), at::TensorOptions(device(0)));
  to.copy_(from, /*non_blocking=*/true);
  const at::Tensor back = pinned(at::zeros_like(rows()));
  back.copy_(to, /*non_blocking=*/true);
  EXPECT_EQ(back.sum().item<float>(), 0) << "the copy has not been made";
  machine().wait_for(current_stream(0));
  EXPECT_TRUE(at::equal(back, rows()));
  EXPECT_EQ(since_begin().late_copies, 2U);
}

TEST_P(FakeDevice, StreamsOvertakeEachOther) {
  const c10::Stream side = other_stream();
  std::vector<at::Tensor> kept;
  for (int i = 0; i < 20; ++i) {
    kept.push_back(at::zeros({1}, device(0)));
    const c10::StreamGuard guard(side);
    kept.push_back(at::ones({1}, device(0)));
  }
  machine().wait_for(name_of(side));
  EXPECT_GT(since_begin().overtaking, 0U);
}

TEST_P(FakeDevice, AnEventOrdersTwoStreams) {
  const c10::Stream side = other_stream();
  at::Tensor x;
  c10::Event done(c10::DeviceType::PrivateUse1);
  {
    const c10::StreamGuard guard(side);
    x = at::full({4}, 3.0F, device(0));
    done.record(side);
  }
  const c10::Stream own =
      c10::impl::VirtualGuardImpl(c10::DeviceType::PrivateUse1).getStream(device(0));
  done.block(own);
  x.record_stream(own);
  EXPECT_EQ(x.sum().item<float>(), 12);
}

TEST_P(FakeDevice, AMissingWaitIsFound) {
  const c10::Stream side = other_stream();
  at::Tensor x = at::zeros({4}, device(0));
  {
    const c10::StreamGuard guard(side);
    x.add_(1);
  }
  EXPECT_TRUE(found_only(Fault::kUnordered, "without waiting for aten::zero_"));
  machine().wait_for_device(0);
}

TEST_P(FakeDevice, AWaitForAnEventThatWasRecordedTooEarlyIsFound) {
  const c10::Stream side = other_stream();
  c10::Event done(c10::DeviceType::PrivateUse1);
  at::Tensor x;
  {
    const c10::StreamGuard guard(side);
    x = at::empty({4}, device(0));
    done.record(side);
    x.fill_(1);
  }
  done.block(c10::impl::VirtualGuardImpl(c10::DeviceType::PrivateUse1).getStream(device(0)));
  static_cast<void>(x.sum().item<float>());
  EXPECT_TRUE(found_only(Fault::kUnordered, "aten::fill_"));
}

TEST_P(FakeDevice, WhatTheHostHasWaitedForNeedsNoEvent) {
  const c10::Stream side = other_stream();
  const at::Tensor x = at::zeros({4}, device(0));
  machine().wait_for(current_stream(0));
  const c10::StreamGuard guard(side);
  EXPECT_EQ(x.sum().item<float>(), 0);
}

TEST_P(FakeDevice, ABlockThatIsFreedWhileAnotherStreamUsesItIsFound) {
  const c10::Stream side = other_stream();
  for (const bool noted : {true, false}) {
    at::Tensor x = at::zeros({4}, device(0));
    machine().wait_for(current_stream(0));
    {
      const c10::StreamGuard guard(side);
      x.add_(1);
    }
    if (noted) x.record_stream(side);
    x = at::Tensor();
    if (!noted) {
      EXPECT_TRUE(found_only(Fault::kFreedInUse, "aten::add"));
    }
  }
}

TEST_P(FakeDevice, PinnedMemoryThatChangesBeforeTheCopyIsFound) {
  const at::Tensor from = pinned(rows());
  const at::Tensor to = from.to(device(0), /*non_blocking=*/true);
  from.fill_(7);
  machine().wait_for(current_stream(0));
  EXPECT_TRUE(found_only(Fault::kHostChanged, "changed"));
}

TEST_P(FakeDevice, PinnedMemoryThatIsFreedBeforeTheCopyIsFound) {
  at::Tensor owner = pinned(rows());
  const at::Tensor to = at::from_blob(owner.data_ptr(), {12}).to(device(0), /*non_blocking=*/true);
  owner = at::Tensor();
  machine().wait_for(current_stream(0));
  EXPECT_TRUE(found_only(Fault::kHostChanged, "freed"));
}

TEST_P(FakeDevice, MemoryThatIsNotPinnedMayChangeAtOnce) {
  const at::Tensor from = rows().clone();
  const at::Tensor to = from.to(device(0), /*non_blocking=*/true);
  from.fill_(7);
  EXPECT_TRUE(at::equal(to.cpu(), rows()));
}

TEST_P(FakeDevice, MemoryOverTheLimitIsRefusedAndThenThereIsSomeAgain) {
  machine().set_memory_limit(0, machine().counters(0).live_bytes + 1024);
  {
    const at::Tensor most = at::empty({256}, device(0));
    EXPECT_THROW(static_cast<void>(at::empty({1}, device(0))), c10::OutOfMemoryError);
    EXPECT_NO_THROW(static_cast<void>(at::empty({1}, device(1))));
  }
  EXPECT_NO_THROW(static_cast<void>(at::empty({256}, device(0))));
}

TEST_P(FakeDevice, FreshMemoryIsNotANumber) {
  EXPECT_TRUE(std::isnan(at::empty({4}, device(0)).sum().item<float>()));
}

TEST_P(FakeDevice, TwoDevicesAndTheHostDoNotMix) {
  const at::Tensor x = rows().to(device(0)), y = rows().to(device(1));
  EXPECT_THROW(static_cast<void>(x + y), c10::Error);
  EXPECT_THROW(static_cast<void>(x + rows()), c10::Error);
  // Operators that leave the question to their kernels.
  const at::Tensor places = at::zeros({2}, at::kLong);
  EXPECT_THROW(static_cast<void>(x.index_select(0, places.to(device(1)))), c10::Error);
  EXPECT_TRUE(found_only(Fault::kOtherDevice, "aten::index_select"));
  EXPECT_THROW(static_cast<void>(x.index_select(0, places)), c10::Error);
  EXPECT_TRUE(found_only(Fault::kHostOperand, "aten::index_select"));
  EXPECT_TRUE(at::equal((x + y.to(device(0))).cpu(), rows() * 2)) << "an explicit copy is allowed";
}

TEST_P(FakeDevice, AFaultOfAKernelIsThrownToWhoWaits) {
  const at::Tensor places = at::full({1}, 99, at::TensorOptions(device(0)).dtype(at::kLong));
  const at::Tensor chosen = rows().to(device(0)).index_select(0, places);
  EXPECT_THROW(machine().wait_for(current_stream(0)), std::exception);
}

}  // namespace
}  // namespace stoker::fake
