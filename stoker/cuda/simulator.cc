#include "stoker/cuda/simulator.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <numeric>

#include <fmt/format.h>
#include <ucontext.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"
#include "stoker/core/rng.h"
#include "stoker/core/sanitizers.h"

#if STOKER_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace stoker::cuda {

constinit thread_local Dim threadIdx;
constinit thread_local Dim blockIdx;
constinit thread_local Dim blockDim;
constinit thread_local Dim gridDim;

namespace {

constexpr std::size_t kStackBytes = 128 << 10;
constexpr std::uint32_t kManyReaders = ~std::uint32_t{0};

// AddressSanitizer keeps books about stacks and wants to know when one is left for another.
struct StackNote {
  const void* bottom = nullptr;
  std::size_t size = 0;
  void* fake = nullptr;
};
void before_switch([[maybe_unused]] StackNote& from, [[maybe_unused]] const StackNote& to) {
#if STOKER_ASAN
  __sanitizer_start_switch_fiber(&from.fake, to.bottom, to.size);
#endif
}
void after_switch([[maybe_unused]] const StackNote& now, [[maybe_unused]] StackNote* left) {
#if STOKER_ASAN
  __sanitizer_finish_switch_fiber(now.fake, left ? &left->bottom : nullptr,
                                  left ? &left->size : nullptr);
#endif
}

// A stack that runs one thread of the block after another, until one has to wait at a barrier.
struct Fibre {
  ucontext_t context{};
  std::unique_ptr<std::byte[]> stack;
  StackNote note;
  std::uint32_t thread = 0;
  const char* waits_at = nullptr;  // the barrier's name
};

struct SharedBlock {
  std::vector<std::max_align_t> bytes;
  std::vector<simulator::Access> accesses;
};

Dim place_of(std::size_t index, const Dim& extent) {
  return {.x = static_cast<unsigned>(index % extent.x),
          .y = static_cast<unsigned>(index / extent.x % extent.y),
          .z = static_cast<unsigned>(index / extent.x / extent.y)};
}

std::string name_of_thread() {
  return fmt::format("thread ({}, {}, {}) of block ({}, {}, {})", threadIdx.x, threadIdx.y,
                     threadIdx.z, blockIdx.x, blockIdx.y, blockIdx.z);
}

// One simulation. Frames of fibres that an error leaves suspended are dropped with their stacks:
// kernels own nothing that would need a destructor.
class Machine {
 public:
  Machine(const SimulatorOptions& options, const std::function<void()>& kernel)
      : options_(options), kernel_(kernel), rng_({.seed = options.seed}, 0) {}

  SimulatorReport run();
  void barrier(const char* name);
  simulator::SharedMemory shared_memory(const char* name, std::size_t count, std::size_t size);
  void note_shared_read(const char* name, simulator::Access& access, std::size_t index);
  void note_shared_write(const char* name, simulator::Access& access, std::size_t index);
  void note_global_write(const char* name, simulator::Access& access, std::size_t index) const;

 private:
  static void enter_fibre();
  void fibre_main();
  void run_thread(std::uint32_t thread);
  void run_block();
  void start_threads();
  void pass_barrier();
  void resume(Fibre& fibre);
  void leave(Fibre& fibre);
  Fibre& idle_fibre();
  template <class T>
  void shuffle(std::vector<T>& values);
  void set_thread(std::uint32_t thread) { threadIdx = place_of(thread, blockDim); }
  [[noreturn]] void fail_race(const char* name, std::size_t index, const char* doing,
                              std::uint32_t other) const;

  const SimulatorOptions& options_;
  const std::function<void()>& kernel_;
  Rng rng_;
  SimulatorReport report_;

  ucontext_t scheduler_{};
  StackNote scheduler_note_;
  std::vector<std::unique_ptr<Fibre>> fibres_;
  std::vector<Fibre*> idle_;
  std::vector<Fibre*> waiting_;
  Fibre* current_ = nullptr;
  std::exception_ptr error_;

  std::vector<std::uint32_t> order_;  // of the block's threads
  std::size_t started_ = 0;
  std::uint64_t block_ = 0;
  std::uint32_t interval_ = 0;  // counts on over all blocks
  std::uint32_t block_began_ = 0;
  std::map<std::string, SharedBlock, std::less<>> shared_;
};

thread_local Machine* machine = nullptr;

Machine& running() {
  STOKER_INVARIANT(machine != nullptr, "kernel code outside simulate()");
  return *machine;
}

template <class T>
void Machine::shuffle(std::vector<T>& values) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[rng_.uniform_int(static_cast<std::uint32_t>(i))]);
  }
}

SimulatorReport Machine::run() {
  gridDim = options_.grid;
  blockDim = options_.block;
  std::vector<std::uint32_t> blocks(gridDim.count());
  std::iota(blocks.begin(), blocks.end(), 0U);
  shuffle(blocks);
  order_.resize(blockDim.count());
  std::iota(order_.begin(), order_.end(), 0U);
  for (const std::uint32_t block : blocks) {
    block_ = block;
    blockIdx = place_of(block, gridDim);
    run_block();
  }
  return report_;
}

void Machine::run_block() {
  shuffle(order_);
  block_began_ = ++interval_;
  for (auto& [name, memory] : shared_) {  // what an earlier block left there means nothing
    std::memset(memory.bytes.data(), 0xA5 ^ static_cast<int>(block_ & 0xFF),
                memory.bytes.size() * sizeof(std::max_align_t));
  }
  started_ = 0;
  start_threads();
  while (!waiting_.empty()) pass_barrier();
}

void Machine::start_threads() {
  while (started_ < order_.size()) resume(idle_fibre());
}

void Machine::pass_barrier() {
  report_.most_waiting = std::max(report_.most_waiting, waiting_.size());
  const auto* first = waiting_.front();
  for (const Fibre* fibre : waiting_) {
    if (std::strcmp(fibre->waits_at, first->waits_at) == 0) continue;
    throw SimulatorError(
        fmt::format("divergent barriers in block {}: thread {} waits at {}, thread {} at {}",
                    block_, first->thread, first->waits_at, fibre->thread, fibre->waits_at));
  }
  if (waiting_.size() < order_.size()) {
    throw SimulatorError(fmt::format(
        "divergent barrier {} in block {}: {} of {} threads wait there, the others have returned",
        first->waits_at, block_, waiting_.size(), order_.size()));
  }
  ++report_.barriers;
  ++interval_;
  auto released = std::exchange(waiting_, {});
  shuffle(released);
  for (Fibre* fibre : released) resume(*fibre);
}

Fibre& Machine::idle_fibre() {
  if (idle_.empty()) {
    auto fibre = std::make_unique<Fibre>();
    fibre->stack.reset(new std::byte[kStackBytes]);  // pages not used are never touched
    getcontext(&fibre->context);
    fibre->context.uc_stack.ss_sp = fibre->stack.get();
    fibre->context.uc_stack.ss_size = kStackBytes;
    fibre->note = {.bottom = fibre->stack.get(), .size = kStackBytes};
    makecontext(&fibre->context, &Machine::enter_fibre, 0);
    idle_.push_back(fibre.get());
    fibres_.push_back(std::move(fibre));
  }
  Fibre& fibre = *idle_.back();
  idle_.pop_back();
  return fibre;
}

void Machine::resume(Fibre& fibre) {
  current_ = &fibre;
  if (fibre.waits_at != nullptr) set_thread(fibre.thread);
  fibre.waits_at = nullptr;
  before_switch(scheduler_note_, fibre.note);
  swapcontext(&scheduler_, &fibre.context);
  after_switch(scheduler_note_, nullptr);
  if (error_) std::rethrow_exception(error_);
  (fibre.waits_at != nullptr ? waiting_ : idle_).push_back(&fibre);
}

void Machine::leave(Fibre& fibre) {
  before_switch(fibre.note, scheduler_note_);
  swapcontext(&fibre.context, &scheduler_);
  after_switch(fibre.note, &scheduler_note_);
}

void Machine::enter_fibre() {
  after_switch(machine->current_->note, &machine->scheduler_note_);
  machine->fibre_main();
}

void Machine::fibre_main() {
  Fibre& self = *current_;
  while (true) {
    while (started_ < order_.size() && !error_) {
      self.thread = order_[started_++];
      run_thread(self.thread);
    }
    leave(self);
  }
}

void Machine::run_thread(std::uint32_t thread) {
  set_thread(thread);
  try {
    kernel_();
  } catch (...) {
    error_ = std::current_exception();
  }
}

void Machine::barrier(const char* name) {
  if (options_.omit_barrier == name) {
    ++report_.omitted;
    return;
  }
  current_->waits_at = name;
  leave(*current_);
}

simulator::SharedMemory Machine::shared_memory(const char* name, std::size_t count,
                                               std::size_t size) {
  auto found = shared_.find(name);
  if (found == shared_.end()) {
    found = shared_.emplace(name, SharedBlock{}).first;
    found->second.bytes.resize(count * size / sizeof(std::max_align_t) + 1);
    found->second.accesses.resize(count);
    report_.shared_bytes += count * size;
  }
  STOKER_INVARIANT(found->second.accesses.size() == count, "{} has two sizes", name);
  return {.bytes = found->second.bytes.data(), .accesses = found->second.accesses.data()};
}

void Machine::fail_race(const char* name, std::size_t index, const char* doing,
                        std::uint32_t other) const {
  const std::string who =
      other == kManyReaders ? "others" : fmt::format("thread {} of the block", other);
  throw SimulatorError(fmt::format("race: {} {} {}[{}] that {} used since the last barrier",
                                   name_of_thread(), doing, name, index, who));
}

void Machine::note_shared_read(const char* name, simulator::Access& access, std::size_t index) {
  if (!options_.check_races) return;
  const std::uint32_t self = current_->thread;
  if (access.write_interval < block_began_) {
    throw SimulatorError(fmt::format("{} reads {}[{}] that nobody has written in this block",
                                     name_of_thread(), name, index));
  }
  if (access.write_interval == interval_ && access.writer != self) {
    fail_race(name, index, "reads", access.writer);
  }
  const bool shared = access.read_interval == interval_ && access.reader != self;
  access.read_interval = interval_;
  access.reader = shared ? kManyReaders : self;
}

void Machine::note_shared_write(const char* name, simulator::Access& access, std::size_t index) {
  if (!options_.check_races) return;
  const std::uint32_t self = current_->thread;
  if (access.write_interval == interval_ && access.writer != self) {
    fail_race(name, index, "writes", access.writer);
  }
  if (access.read_interval == interval_ && access.reader != self) {
    fail_race(name, index, "writes", access.reader);
  }
  access.write_interval = interval_;
  access.writer = self;
}

// No barrier orders blocks, so here the whole launch is one interval.
void Machine::note_global_write(const char* name, simulator::Access& access,
                                std::size_t index) const {
  const auto block = static_cast<std::uint32_t>(block_);
  const bool written = access.write_interval != 0;
  if (written && (access.writer != current_->thread || access.reader != block)) {
    throw SimulatorError(fmt::format("{} writes {}[{}] that thread {} of block {} wrote",
                                     name_of_thread(), name, index, access.writer, access.reader));
  }
  access = {.write_interval = 1, .writer = current_->thread, .reader = block};
}

}  // namespace

SimulatorReport simulate(const SimulatorOptions& options, const std::function<void()>& kernel) {
  STOKER_INVARIANT(machine == nullptr, "a simulation inside a simulation");
  STOKER_INVARIANT(options.block.count() <= 1024, "a block of {} threads", options.block.count());
  Machine here(options, kernel);
  struct Current {
    explicit Current(Machine* now) { machine = now; }
    ~Current() { machine = nullptr; }
  } current(&here);
  return here.run();
}

namespace simulator {

void barrier(const char* name) { running().barrier(name); }

SharedMemory shared_memory(const char* name, std::size_t count, std::size_t bytes_per_value) {
  return running().shared_memory(name, count, bytes_per_value);
}
void note_shared_read(const char* name, Access& access, std::size_t index) {
  running().note_shared_read(name, access, index);
}
void note_shared_write(const char* name, Access& access, std::size_t index) {
  running().note_shared_write(name, access, index);
}
void note_global_write(const char* name, Access& access, std::size_t index) {
  running().note_global_write(name, access, index);
}

void fail_index(const char* name, std::int64_t index, std::size_t size) {
  throw SimulatorError(
      fmt::format("{} reaches {}[{}]; it has {} values", name_of_thread(), name, index, size));
}
void fail_alignment(const char* name, std::int64_t index, std::size_t bytes) {
  throw SimulatorError(
      fmt::format("{} reaches {}[{}] with a vector access that needs {} bytes of alignment",
                  name_of_thread(), name, index, bytes));
}

}  // namespace simulator

}  // namespace stoker::cuda
