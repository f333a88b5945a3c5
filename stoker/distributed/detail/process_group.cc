#define USE_C10D_GLOO
#include "stoker/distributed/detail/process_group.h"

#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "stoker/core/error.h"
#include "stoker/distributed/detail/attempt.h"
#include "stoker/distributed/detail/nccl.h"
#include "stoker/distributed/detail/network.h"

namespace stoker::detail {

c10::intrusive_ptr<c10d::Store> meet(const Launch& launch, const std::string& own_address,
                                     std::chrono::milliseconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = launch.master_port;
  options.timeout = timeout;
  options.isServer = launch.rank == 0 && !launch.agent_keeps_store;
  std::string address = launch.master_address;
  if (options.isServer) {
    if (is_loopback(own_address) && launch.local_ranks < launch.ranks && !is_loopback(address)) {
      throw Error({.what = "other machines could not reach rank 0",
                   .expected = fmt::format("{} to be an address that they know", address),
                   .found = own_address,
                   .hint = "Give `master_addr` as an address, or name `dist_interface`"});
    }
    address = own_address;
    options.masterListenFd = listen_at(address, launch.master_port);
  }
  const auto ours = c10::make_intrusive<c10d::PrefixStore>(
      "stoker", c10::make_intrusive<c10d::TCPStore>(address, options));
  return c10::make_intrusive<c10d::PrefixStore>(
      agree_on_attempt(ours, launch.rank, launch.ranks, timeout), ours);
}

c10::intrusive_ptr<c10d::ProcessGroup> make_process_group(
    const c10::intrusive_ptr<c10d::Store>& store, const Launch& launch,
    const ProcessGroupOptions& options) {
  const auto own_store = c10::make_intrusive<c10d::PrefixStore>(options.name, store);
  auto group = c10::make_intrusive<c10d::ProcessGroup>(own_store, launch.rank, launch.ranks);
  auto gloo = c10d::ProcessGroupGloo::Options::create(options.timeout);
  gloo->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(options.address));
  using Type = c10d::ProcessGroup::BackendType;
  group->setBackend(c10::DeviceType::CPU, Type::GLOO,
                    c10::make_intrusive<c10d::ProcessGroupGloo>(
                        c10::make_intrusive<c10d::PrefixStore>("gloo", own_store), launch.rank,
                        launch.ranks, gloo));
  group->setDefaultBackend(Type::GLOO);
  if (options.device.is_cuda()) {
    group->setBackend(c10::DeviceType::CUDA, Type::NCCL,
                      make_nccl_backend(c10::make_intrusive<c10d::PrefixStore>("nccl", own_store),
                                        launch.rank, launch.ranks, options.timeout));
  }
  return group;
}

}  // namespace stoker::detail
