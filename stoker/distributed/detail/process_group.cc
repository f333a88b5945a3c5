#define USE_C10D_GLOO
#include "stoker/distributed/detail/process_group.h"

#include <future>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "stoker/core/error.h"
#include "stoker/distributed/detail/attempt.h"
#include "stoker/distributed/detail/guarded_store.h"
#include "stoker/distributed/detail/nccl.h"
#include "stoker/distributed/detail/network.h"
#include "stoker/distributed/detail/sealed_store.h"

namespace stoker::detail {
namespace {

using std::chrono::milliseconds;
using Opened = KeptStore;

// Where rank 0 is reached at the address that the others have.
int listen_as_rank_0(const Launch& launch, const std::string& own_address) {
  const std::string& known = launch.master_address;
  if (is_loopback(own_address) && launch.local_ranks < launch.ranks && !is_loopback(known)) {
    throw Error({.what = "other machines could not reach rank 0",
                 .expected = fmt::format("{} to be an address that they know", known),
                 .found = own_address,
                 .hint = "Give `master_addr` as an address, or name `dist_interface`"});
  }
  return listen_at(own_address, launch.master_port);
}

// c10d waits in vain, for a minute and longer whatever its timeout, for what accepts a connection
// and is silent. So a thread waits in our place; where it is too late, its store is dropped.
c10::intrusive_ptr<c10d::Store> reach_store(const Launch& launch,
                                            const c10d::TCPStoreOptions& options) {
  using Store = c10::intrusive_ptr<c10d::Store>;
  std::packaged_task<Store()> connect([address = launch.master_address, options]() -> Store {
    return c10::make_intrusive<c10d::TCPStore>(address, options);
  });
  std::future<Store> connected = connect.get_future();
  std::thread(std::move(connect)).detach();
  if (connected.wait_for(options.timeout) == std::future_status::ready) return connected.get();
  throw std::runtime_error("nothing there answers as a store");
}

Opened open_store(const Launch& launch, const std::string& own_address, const std::string& secret,
                  milliseconds timeout) {
  const bool keeps_it = launch.rank == 0 && !launch.agent_keeps_store;
  c10d::TCPStoreOptions options;
  options.port = launch.master_port;
  options.timeout = timeout;
  options.isServer = keeps_it;
  if (keeps_it) {
    const int listener = listen_as_rank_0(launch, own_address);
    if (!secret.empty()) return keep_store(listener, secret, timeout);
    options.masterListenFd = listener;
    return {c10::make_intrusive<c10d::TCPStore>(own_address, options), {}};
  }
  if (secret.empty()) return {reach_store(launch, options), {}};
  if (!launch.agent_keeps_store) {
    return {join_store(launch.master_address, launch.master_port, secret, timeout), {}};
  }
  return {c10::make_intrusive<SealedStore>(reach_store(launch, options), secret), {}};
}

}  // namespace

c10::intrusive_ptr<c10d::Store> meet(const Launch& launch, const std::string& own_address,
                                     const std::string& secret, milliseconds timeout) {
  const Opened opened = open_store(launch, own_address, secret, timeout);
  const auto ours = c10::make_intrusive<c10d::PrefixStore>("stoker", opened.store);
  try {
    return c10::make_intrusive<c10d::PrefixStore>(
        agree_on_attempt(ours, launch.rank, launch.ranks, timeout), ours);
  } catch (const std::runtime_error& error) {
    const std::string refusals = opened.refusals ? opened.refusals() : "";
    if (refusals.empty()) throw;
    throw std::runtime_error(fmt::format("{}; {}", error.what(), refusals));
  }
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
