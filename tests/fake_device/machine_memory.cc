// The memory of the machine: the rest of machine.h is in machine_jobs.cc.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include <c10/util/Exception.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fake_device/machine.h"

namespace stoker::fake {
namespace {

// Addresses are used once. Only pages that were written to take memory, until their block is freed.
constexpr std::size_t kAddresses = std::size_t{1} << 38, kPage = 4096;

std::byte* mapped(int file, int protection) {
  void* place = ::mmap(nullptr, kAddresses, protection, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (place == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  return static_cast<std::byte*>(place);
}

}  // namespace

Machine& Machine::instance() {
  static auto* const machine = new Machine;
  return *machine;
}

Machine::Machine() : random_({.seed = 0}, 0) {
  for (Device& device : devices_) {
    device.file = ::memfd_create("fake device", MFD_CLOEXEC);
    if (device.file < 0 || ::ftruncate(device.file, static_cast<off_t>(kAddresses)) != 0) {
      throw std::system_error(errno, std::generic_category(), "memfd_create");
    }
    device.memory = mapped(device.file, PROT_NONE);
    device.kernels = mapped(device.file, PROT_READ | PROT_WRITE);
  }
  std::thread([this] { work(); }).detach();
}

int Machine::device_of(const void* address) const noexcept {
  for (int device = 0; device < kDevices; ++device) {
    const auto* const begin = devices_[device].memory;
    if (address >= begin && address < begin + kAddresses) return device;
  }
  return -1;
}

void* Machine::for_kernels(const void* address) const {
  if (address == nullptr) return nullptr;  // of no bytes
  const int device = device_of(address);
  TORCH_CHECK(device >= 0, "not memory of a fake device: ", address);
  return devices_[device].kernels +
         (static_cast<const std::byte*>(address) - devices_[device].memory);
}

void* Machine::allocate(StreamName stream, std::size_t bytes) {
  if (bytes == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  Device& device = devices_[stream.device];
  Counters& counters = device.counters;
  const bool refused = until_refusal_ >= 0 && until_refusal_-- == 0;
  if (refused || counters.live_bytes + bytes > device.limit) {
    ++counters.refused;
    TORCH_CHECK_WITH(OutOfMemoryError, false, "the fake device ", stream.device,
                     " has no memory for ", bytes, " bytes");
  }
  auto block = std::make_shared<Block>();
  block->address = device.memory + device.used;
  block->bytes = bytes;
  block->mapped = (bytes + kPage - 1) / kPage * kPage;
  block->stream = stream;
  block->number = ++blocks_made_;
  // A real allocator gives memory that older jobs of this stream may still use.
  block->writer = stream;
  block->written = {.ticket = streams_[stream].called, .name = "its allocation"};
  device.used += block->mapped + kPage;
  TORCH_CHECK(device.used <= kAddresses, "the fake device has no addresses left");
  std::memset(for_kernels(block->address), 0xFF, bytes);
  blocks_.emplace(block->address, block);
  ++counters.allocations;
  ++counters.live_blocks;
  counters.live_bytes += bytes;
  counters.peak_bytes = std::max(counters.peak_bytes, counters.live_bytes);
  return block->address;
}

void Machine::free(void* address) {
  if (address == nullptr) return;
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<Block> block = block_at(address);
  check_free(*block);
  block->freed = true;
  Counters& counters = devices_[block->stream.device].counters;
  --counters.live_blocks;
  counters.live_bytes -= block->bytes;
  if (block->pending == 0) give_back(*block);
}

// Jobs of the stream that a block was allocated on come before those that get its memory next.
void Machine::check_free(const Block& block) {
  const auto check = [&](StreamName stream, const Use& use) {
    const bool known = stream == block.stream || std::ranges::count(block.noted, stream) > 0;
    if (known || host_[stream] >= use.ticket) return;
    if (streams_[block.stream].clock[stream] >= use.ticket) return;
    note(Fault::kFreedInUse,
         fmt::format("block {} of {} bytes, of {}, was freed while {} of {} may use it",
                     block.number, block.bytes, text_of(block.stream), use.name, text_of(stream)));
  };
  check(block.writer, block.written);
  for (const auto& [stream, use] : block.read) check(stream, use);
}

void Machine::give_back(Block& block) {
  Device& device = devices_[block.stream.device];
  ::fallocate(device.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              block.address - device.memory, static_cast<off_t>(block.mapped));
  blocks_.erase(block.address);
}

std::shared_ptr<Machine::Block> Machine::block_at(const void* address) {
  auto after = blocks_.upper_bound(static_cast<const std::byte*>(address));
  if (after == blocks_.begin()) return nullptr;
  const std::shared_ptr<Block>& block = std::prev(after)->second;
  return address < block->address + block->mapped ? block : nullptr;
}

std::size_t Machine::block_bytes(const void* address) const noexcept {
  const auto after = blocks_.upper_bound(static_cast<const std::byte*>(address));
  return after == blocks_.begin() ? 0 : std::prev(after)->second->bytes;
}

void Machine::note_use(const void* address, StreamName stream) {
  if (address == nullptr) return;
  const std::lock_guard lock(mutex_);
  if (const auto block = block_at(address)) block->noted.push_back(stream);
}

void* Machine::allocate_pinned(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* const address = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  if (address == nullptr) throw std::bad_alloc();
  const std::lock_guard lock(mutex_);
  pinned_.emplace(static_cast<std::byte*>(address), bytes);
  return address;
}

// A tensor that owns its memory is held by copies from it; here only those of others are left.
void Machine::free_pinned(void* address) {
  if (address == nullptr) return;
  const std::lock_guard lock(mutex_);
  const auto found = pinned_.find(static_cast<std::byte*>(address));
  const std::byte *begin = found->first, *end = begin + found->second;
  pinned_.erase(found);
  bool used = false;
  for (const auto& [name, stream] : streams_) {
    for (const auto& entry : stream.queue) {
      const auto* const job = std::get_if<Job>(&entry);
      if (job == nullptr || !job->pinned) continue;
      const std::byte* const source = job->pinned->begin;
      if (source < begin || source >= end) continue;
      note(Fault::kHostChanged, fmt::format("pinned memory was freed before {} of {} read it",
                                            job->name, text_of(name)));
      used = true;
    }
  }
  if (used) {
    still_read_.push_back(address);  // for ever: the copy reads it later
  } else {
    std::free(address);
  }
}

bool Machine::is_pinned(const void* address) {
  const std::lock_guard lock(mutex_);
  const auto after = pinned_.upper_bound(static_cast<const std::byte*>(address));
  if (after == pinned_.begin()) return false;
  const auto& [begin, bytes] = *std::prev(after);
  return address < begin + bytes;
}

void Machine::set_memory_limit(int device, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  devices_[device].limit = bytes;
}

void Machine::refuse_allocation_after(std::int64_t allocations) {
  const std::lock_guard lock(mutex_);
  until_refusal_ = allocations;
}

Counters Machine::counters(int device) {
  const std::lock_guard lock(mutex_);
  return devices_[device].counters;
}

void Machine::count_late_copy(int device) {
  const std::lock_guard lock(mutex_);
  ++devices_[device].counters.late_copies;
}

}  // namespace stoker::fake
