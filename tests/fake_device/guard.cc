// The device's allocator, guard (devices, streams, events) and hooks.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <sys/resource.h>
#include <torch/library.h>

#include "tests/fake_device/fake_device.h"

namespace stoker::fake {
namespace {

constexpr std::int64_t kPooledStreams = 3;  // few, so that they are used again

thread_local int current_device = 0;
thread_local std::int64_t current_streams[kDevices] = {};

Machine& machine() { return Machine::instance(); }

int checked(int index) {
  if (index < 0) return current_device;
  TORCH_CHECK(index < kDevices, "there is no device fake:", index);
  return index;
}

c10::Stream stream_of(StreamName name) {
  return c10::Stream(c10::Stream::UNSAFE, device(name.device), name.number);
}

class DeviceMemory final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    void* const place = machine().allocate(current_stream(current_device), bytes);
    return {place, place, [](void* address) { machine().free(address); }, device(current_device)};
  }
  void copy_data(void* /*to*/, const void* /*from*/, std::size_t /*bytes*/) const override {
    TORCH_CHECK(false, "storages of the fake device are copied as tensors");
  }
};

class PinnedMemoryOfHost final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    void* const place = machine().allocate_pinned(bytes);
    return {place, place, [](void* address) { machine().free_pinned(address); },
            c10::DeviceType::CPU};
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

struct Guard final : public c10::impl::DeviceGuardImplInterface {
  [[nodiscard]] c10::DeviceType type() const override { return c10::DeviceType::PrivateUse1; }
  [[nodiscard]] c10::Device exchangeDevice(c10::Device to) const override {
    const c10::Device before = getDevice();
    setDevice(to);
    return before;
  }
  [[nodiscard]] c10::Device getDevice() const override { return device(current_device); }
  void setDevice(c10::Device to) const override { current_device = checked(to.index()); }
  void uncheckedSetDevice(c10::Device to) const noexcept override {
    if (to.index() >= 0) current_device = to.index();
  }
  [[nodiscard]] c10::Stream getStream(c10::Device of) const override {
    return stream_of(current_stream(checked(of.index())));
  }
  [[nodiscard]] c10::Stream getDefaultStream(c10::Device of) const override {
    return stream_of({.device = checked(of.index()), .number = 0});
  }
  [[nodiscard]] c10::Stream getStreamFromGlobalPool(c10::Device of,
                                                    bool /*high_priority*/) const override {
    static std::atomic<std::int64_t> next = 0;
    return stream_of({.device = checked(of.index()), .number = 1 + next++ % kPooledStreams});
  }
  [[nodiscard]] c10::Stream getNewStream(c10::Device of, int /*priority*/) const override {
    return getStreamFromGlobalPool(of, false);
  }
  [[nodiscard]] c10::Stream exchangeStream(c10::Stream stream) const override {
    const c10::Stream before = getStream(stream.device());
    current_streams[stream.device_index()] = stream.id();
    return before;
  }
  void destroyEvent(void* event, c10::DeviceIndex /*device*/) const noexcept override {
    delete static_cast<Machine::Event*>(event);
  }
  void record(void** event, const c10::Stream& stream, c10::DeviceIndex /*device*/,
              c10::EventFlag /*flag*/) const override {
    if (*event == nullptr) *event = new Machine::Event;
    *static_cast<Machine::Event*>(*event) = machine().record(name_of(stream));
  }
  void block(void* event, const c10::Stream& stream) const override {
    if (event != nullptr) machine().block(*static_cast<Machine::Event*>(event), name_of(stream));
  }
  [[nodiscard]] bool queryEvent(void* event) const override {
    return event == nullptr || machine().has_happened(*static_cast<Machine::Event*>(event));
  }
  void synchronizeEvent(void* event) const override {
    if (event != nullptr) machine().wait_for(*static_cast<Machine::Event*>(event));
  }
  [[nodiscard]] bool queryStream(const c10::Stream& stream) const override {
    return machine().is_idle(name_of(stream));
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    machine().wait_for(name_of(stream));
  }
  void synchronizeDevice(c10::DeviceIndex index) const override {
    machine().wait_for_device(checked(index));
  }
  void recordDataPtrOnStream(const c10::DataPtr& memory, const c10::Stream& stream) const override {
    machine().note_use(memory.get(), name_of(stream));
  }
  [[nodiscard]] c10::DeviceIndex deviceCount() const noexcept override { return kDevices; }
};

struct Hooks final : public at::PrivateUse1HooksInterface {
  [[nodiscard]] bool isBuilt() const override { return true; }
  [[nodiscard]] bool isAvailable() const override { return true; }
  [[nodiscard]] bool hasPrimaryContext(c10::DeviceIndex /*index*/) const override { return true; }
  [[nodiscard]] c10::DeviceIndex deviceCount() const override { return kDevices; }
  void setCurrentDevice(c10::DeviceIndex index) const override { current_device = checked(index); }
  [[nodiscard]] c10::DeviceIndex getCurrentDevice() const override {
    return static_cast<c10::DeviceIndex>(current_device);
  }
  [[nodiscard]] c10::DeviceIndex exchangeDevice(c10::DeviceIndex index) const override {
    return static_cast<c10::DeviceIndex>(std::exchange(current_device, checked(index)));
  }
  [[nodiscard]] c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex index) const override {
    return exchangeDevice(index);
  }
  [[nodiscard]] bool isPinnedPtr(const void* address) const override {
    return machine().is_pinned(address);
  }
  [[nodiscard]] c10::Allocator* getPinnedMemoryAllocator() const override {
    static auto* const memory = new PinnedMemoryOfHost;
    return memory;
  }
  [[nodiscard]] c10::Device getDeviceFromPtr(void* address) const override {
    return device(machine().device_of(address));
  }
};

// Names what was touched, then lets the program end as it would have.
void tell_host_access(int number, siginfo_t* info, void* /*context*/) {
  const int owner = machine().device_of(info->si_addr);
  if (owner >= 0) {
    std::fprintf(stderr, "the host touched memory of fake:%d, in a block of %zu bytes\n", owner,
                 machine().block_bytes(info->si_addr));
  }
  std::signal(number, SIG_DFL);
}

void install_once() {
  const rlimit no_core = {.rlim_cur = 0, .rlim_max = 0};  // it would hold all addresses
  ::setrlimit(RLIMIT_CORE, &no_core);
  struct sigaction action = {};
  action.sa_sigaction = tell_host_access;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSEGV, &action, nullptr);
  static DeviceMemory memory;
  c10::register_privateuse1_backend("fake");
  c10::SetAllocator(c10::DeviceType::PrivateUse1, &memory);
  c10::impl::registerDeviceGuard(c10::DeviceType::PrivateUse1, new Guard);
  at::RegisterPrivateUse1HooksInterface(new Hooks);
}

}  // namespace

StreamName current_stream(int device) {
  return {.device = device, .number = current_streams[device]};
}

void install() {
  static const bool installed = (install_once(), true);
  static_cast<void>(installed);
}

}  // namespace stoker::fake
