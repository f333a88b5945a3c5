// What the extension has to know about the interpreter around it: that it still runs, and that this
// is the process that the objects were made in. References to Python objects that any thread may
// drop.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include <nanobind/nanobind.h>

namespace stoker::python {

// Changes in a forked child: threads and locks of the parent mean nothing there.
[[nodiscard]] std::uint64_t process_generation() noexcept;
void watch_forks();

// False once the interpreter begins to end (atexit). Its objects must not be touched afterwards by
// threads that it does not know: taking the GIL would end the thread, or wait for ever.
[[nodiscard]] bool interpreter_runs() noexcept;
void note_end_of_interpreter() noexcept;

// A Python object that threads share; whoever drops it last need not hold the GIL. Where the
// interpreter has ended, it is left alone.
using SharedObject = std::shared_ptr<nanobind::object>;
[[nodiscard]] SharedObject share(nanobind::object object);

// "KeyError: 'image'"
[[nodiscard]] std::string text_of(const nanobind::python_error& error);

}  // namespace stoker::python
