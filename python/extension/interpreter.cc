#include "interpreter.h"

#include <utility>

#include <pthread.h>

namespace nb = nanobind;

namespace stoker::python {
namespace {

std::atomic<std::uint64_t> generation{1};
std::atomic<bool> ended{false};

void drop(nb::object* object) noexcept {
  if (!interpreter_runs()) return;  // a leak of a process that ends
  const nb::gil_scoped_acquire gil;
  delete object;
}

}  // namespace

std::uint64_t process_generation() noexcept { return generation.load(std::memory_order_relaxed); }

void watch_forks() {
  pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
}

bool interpreter_runs() noexcept { return !ended.load() && Py_IsInitialized() != 0; }

void note_end_of_interpreter() noexcept { ended.store(true); }

SharedObject share(nb::object object) {
  return SharedObject(new nb::object(std::move(object)), drop);
}

std::string text_of(const nb::python_error& error) {
  const nb::str type(error.type().attr("__name__")), value(error.value());
  return std::string(type.c_str()) + ": " + value.c_str();
}

}  // namespace stoker::python
