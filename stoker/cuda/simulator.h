// Runs the kernels of this module on the CPU, without a GPU: blocks one after the other, the
// threads of a block as fibres with their real indices and barriers. The order of blocks and
// threads is shuffled anew in every interval between barriers, from a seed, so a kernel that
// forgets a barrier meets values that are not there yet.
//
// What is caught, each with a SimulatorError that names the thread: an index outside a buffer or a
// shared array, a vector access off its alignment, a barrier that part of a block does not reach,
// shared memory read before it is written, two threads at one value between two barriers with
// at least one of them writing, two threads writing one value of a buffer.
// What is not: warps, atomics, timing. Everything runs in the calling thread; one simulation at a
// time in each. Cost: about 20 ns a thread, 1 µs a thread and barrier, a few ns an access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace stoker::cuda {

struct Dim {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
  [[nodiscard]] std::size_t count() const noexcept { return std::size_t{x} * y * z; }
};

// As CUDA names them; set for the thread that runs. constinit: without it every use would ask
// whether they are there yet.
extern constinit thread_local Dim threadIdx;
extern constinit thread_local Dim blockIdx;
extern constinit thread_local Dim blockDim;
extern constinit thread_local Dim gridDim;

class SimulatorError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct SimulatorOptions {
  Dim grid = {};
  Dim block = {};
  std::uint64_t seed = 0;              // decides all orders
  std::string_view omit_barrier = {};  // the barrier of this name is not there
  bool check_races = true;             // false: only wrong results tell of a missing barrier
};

struct SimulatorReport {
  std::size_t barriers = 0;      // passed by whole blocks
  std::size_t shared_bytes = 0;  // of a block
  std::size_t most_waiting = 0;  // threads that stood at a barrier together
  std::size_t omitted = 0;       // barriers that threads ran through because of omit_barrier
};

// Calls `kernel` once for every thread of the grid. Rethrows the first error of a thread.
SimulatorReport simulate(const SimulatorOptions& options, const std::function<void()>& kernel);

namespace simulator {

// Who touched a value last, in which interval between barriers.
struct Access {
  std::uint32_t write_interval = 0;
  std::uint32_t writer = 0;
  std::uint32_t read_interval = 0;
  std::uint32_t reader = 0;
};

struct SharedMemory {
  void* bytes = nullptr;
  Access* accesses = nullptr;
};

void barrier(const char* name);
SharedMemory shared_memory(const char* name, std::size_t count, std::size_t bytes_per_value);
void note_shared_read(const char* name, Access& access, std::size_t index);
void note_shared_write(const char* name, Access& access, std::size_t index);
void note_global_write(const char* name, Access& access, std::size_t index);
[[noreturn]] void fail_index(const char* name, std::int64_t index, std::size_t size);
[[noreturn]] void fail_alignment(const char* name, std::int64_t index, std::size_t bytes);

inline void check_index(const char* name, std::int64_t index, std::size_t size) {
  if (index < 0 || static_cast<std::size_t>(index) >= size) fail_index(name, index, size);
}

// What a checked array gives for [index]: reading and writing are noted.
template <class Array>
class Reference {
 public:
  Reference(const Array& array, std::int64_t index) : array_(array), index_(index) {}
  operator typename Array::Value() const { return array_.load(index_); }  // NOLINT: as T&
  void operator=(const typename Array::Value& value) const { array_.store(index_, value); }

 private:
  Array array_;
  std::int64_t index_;
};

}  // namespace simulator

// A shared array of the block that runs; all its threads get the same one.
template <class T>
class SharedArray {
 public:
  using Value = T;
  SharedArray(const char* name, std::size_t size)
      : name_(name), memory_(simulator::shared_memory(name, size, sizeof(T))), size_(size) {}

  simulator::Reference<SharedArray> operator[](std::int64_t index) const { return {*this, index}; }
  [[nodiscard]] T load(std::int64_t index) const {
    simulator::check_index(name_, index, size_);
    simulator::note_shared_read(name_, memory_.accesses[index], static_cast<std::size_t>(index));
    return values()[index];
  }
  void store(std::int64_t index, const T& value) const {
    simulator::check_index(name_, index, size_);
    simulator::note_shared_write(name_, memory_.accesses[index], static_cast<std::size_t>(index));
    values()[index] = value;
  }
  void check_alignment(std::int64_t index, std::size_t bytes) const {
    if (reinterpret_cast<std::uintptr_t>(values() + index) % bytes != 0) {
      simulator::fail_alignment(name_, index, bytes);
    }
  }

 private:
  [[nodiscard]] T* values() const { return static_cast<T*>(memory_.bytes); }

  const char* name_;
  simulator::SharedMemory memory_;
  std::size_t size_;
};

// What a kernel gets for a pointer into a Buffer. T is const for input.
template <class T>
class Global {
 public:
  using Value = std::remove_const_t<T>;
  Global(T* data, std::size_t size, simulator::Access* accesses, const char* name)
      : data_(data), size_(size), accesses_(accesses), name_(name) {}

  simulator::Reference<Global> operator[](std::int64_t index) const { return {*this, index}; }
  [[nodiscard]] Value load(std::int64_t index) const {
    simulator::check_index(name_, index, size_);
    return data_[index];
  }
  void store(std::int64_t index, const Value& value) const {
    static_assert(!std::is_const_v<T>, "kernels do not write their input");
    simulator::check_index(name_, index, size_);
    simulator::note_global_write(name_, accesses_[index], static_cast<std::size_t>(index));
    data_[index] = value;
  }
  void check_alignment(std::int64_t index, std::size_t bytes) const {
    if (reinterpret_cast<std::uintptr_t>(data_ + index) % bytes != 0) {
      simulator::fail_alignment(name_, index, bytes);
    }
  }
  [[nodiscard]] bool aligned(std::size_t bytes) const {
    return reinterpret_cast<std::uintptr_t>(data_) % bytes == 0;
  }

 private:
  T* data_;
  std::size_t size_;
  simulator::Access* accesses_;
  const char* name_;
};

// Memory as a GPU would hold it; starts at an address with 256 bytes of alignment, plus `skipped`
// values for tests of odd addresses.
template <class T>
class Buffer {
 public:
  Buffer(const char* name, std::vector<T> values, std::size_t skipped = 0)
      : name_(name), size_(values.size()), skipped_(skipped), accesses_(values.size()) {
    bytes_ = ::operator new((size_ + skipped) * sizeof(T) + 1, kAlignment);
    for (std::size_t i = 0; i < size_; ++i) data()[i] = values[i];
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { ::operator delete(bytes_, kAlignment); }

  [[nodiscard]] Global<const T> input() const { return {data(), size_, nullptr, name_}; }
  // Forgets who wrote before: one call a launch.
  [[nodiscard]] Global<T> output() {
    accesses_.assign(size_, {});
    return {data(), size_, accesses_.data(), name_};
  }
  [[nodiscard]] std::vector<T> values() const { return {data(), data() + size_}; }

 private:
  static constexpr std::align_val_t kAlignment{256};
  [[nodiscard]] T* data() const { return static_cast<T*>(bytes_) + skipped_; }

  const char* name_;
  std::size_t size_;
  std::size_t skipped_;
  std::vector<simulator::Access> accesses_;
  void* bytes_ = nullptr;
};

}  // namespace stoker::cuda
