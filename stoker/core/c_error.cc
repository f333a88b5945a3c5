#include "stoker/core/c_error.h"

namespace stoker {

std::string& last_c_error() noexcept {
  thread_local std::string text;
  return text;
}

void set_c_error(const char* text) noexcept {
  try {
    last_c_error() = text;
  } catch (...) {
    last_c_error().clear();  // no memory, not even for that
  }
}

}  // namespace stoker
