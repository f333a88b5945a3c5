// What the C interfaces share: an exception becomes a status and a text for the calling thread.
#pragma once

#include <exception>
#include <string>

#include "stoker/core/error.h"

namespace stoker {

// Of this thread; what stoker_last_error() shows.
[[nodiscard]] std::string& last_c_error() noexcept;

// Never throws, whatever memory there is.
void set_c_error(const char* text) noexcept;

// Runs it, clears the text before. What it throws becomes `failed(error)`'s result, and the text.
template <class Run, class Status>
auto guarded_c_call(Run&& run, Status failed) noexcept -> decltype(run()) {
  set_c_error("");
  try {
    return run();
  } catch (const Error& error) {
    set_c_error(error.what());
    return failed(true);
  } catch (const std::exception& error) {
    set_c_error(error.what());
  } catch (...) {
    set_c_error("an unknown exception");
  }
  return failed(false);
}

}  // namespace stoker
