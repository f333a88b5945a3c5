// Two ranks, as threads, each with a fake device of its own.
#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "stoker/distributed/detail/handles.h"
#include "stoker/distributed/test_ranks.h"
#include "stoker/train/rank_sync.h"
#include "stoker/train/share_state.h"
#include "tests/fake_device/test_fixture.h"
#include "tests/fake_device/test_runs.h"

namespace stoker::fake {
namespace {

// Collectives of tensors on the device: copied to the host, sent by the group's own backend, and
// copied back.
class ThroughTheHost final : public c10d::Backend {
 public:
  explicit ThroughTheHost(c10d::ProcessGroup& group)
      : Backend(group.getRank(), group.getSize()), host_(group.getBackend(at::kCPU)) {}

  [[nodiscard]] const std::string getBackendName() const override { return "through the host"; }

  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors,
                                           const c10d::AllreduceOptions& options) override {
    std::vector<at::Tensor> copies = {tensors.at(0).cpu()};
    host_->allreduce(copies, options)->wait();
    tensors[0].copy_(copies[0]);
    return done(tensors);
  }
  c10::intrusive_ptr<c10d::Work> broadcast(std::vector<at::Tensor>& tensors,
                                           const c10d::BroadcastOptions& options) override {
    std::vector<at::Tensor> copies = {tensors.at(0).cpu()};
    host_->broadcast(copies, options)->wait();
    tensors[0].copy_(copies[0]);
    return done(tensors);
  }

  // For all tensors of a group that lie on fake devices.
  static void join(c10d::ProcessGroup& group) {
    group.setBackend(c10::DeviceType::PrivateUse1, c10d::ProcessGroup::BackendType::CUSTOM,
                     c10::make_intrusive<ThroughTheHost>(group));
  }

 private:
  static c10::intrusive_ptr<c10d::Work> done(const std::vector<at::Tensor>& tensors) {
    auto future =
        c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
    future->markCompleted(c10::IValue(tensors));
    return c10d::Work::create_from_future(future);
  }

  c10::intrusive_ptr<c10d::Backend> host_;
};

// What both ranks ended with.
std::vector<Ended> trained_by_ranks(bool on_fake_devices, const RunSetup& setup,
                                    const RankSyncOptions& options) {
  std::vector<Ended> found(2);
  test::run_ranks(2, [&](Group& group) {
    at::set_num_threads(1);
    const c10::Device where = on_fake_devices ? device(group.rank()) : c10::Device(at::kCPU);
    const c10::DeviceGuard guard(where);
    if (on_fake_devices) ThroughTheHost::join(*group.handles().ranks);
    State state = state_on(where, setup);
    share_state(group, state);
    RankSync sync(group, state, options);
    if (on_fake_devices && options.shared_statistics) {
      ThroughTheHost::join(*group.handles().statistics);
    }
    Splits seen;
    Trainer(state, test::made_up_data(), setup.options, seen, {}, sync).run();
    found[static_cast<std::size_t>(group.rank())] = ended(state, seen);
  });
  return found;
}

class RanksOnFakeDevices : public Fixture {};
INSTANTIATE_TEST_SUITE_P(Orders, RanksOnFakeDevices, kOrders, order_name);

TEST_P(RanksOnFakeDevices, GiveTheBitsOfRanksOnTheCpu) {
  for (const ReductionKind kind : {ReductionKind::kOverlapped, ReductionKind::kAfterwards}) {
    for (const bool shared : {false, true}) {
      RunSetup setup;
      setup.options.feed.epochs = 1;
      setup.options.shared_statistics = shared;
      const RankSyncOptions options = {.reduction = {.kind = kind}, .shared_statistics = shared};
      const std::vector<Ended> found = trained_by_ranks(true, setup, options),
                               expected = trained_by_ranks(false, setup, options);
      EXPECT_EQ(found[0], found[1]);
      EXPECT_EQ(found[0], expected[0]);
    }
  }
}

}  // namespace
}  // namespace stoker::fake
