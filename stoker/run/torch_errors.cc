#include "stoker/run/torch_errors.h"

#include <new>
#include <string>
#include <utility>
#include <vector>

#include <c10/util/Exception.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

[[noreturn]] void fail_for_memory(std::vector<ErrorDetails> causes = {}) {
  throw Error({.what = "out of memory",
               .hint = "Use a smaller `batch_size`, with `grad_accum_steps` for the same step, or "
                       "smaller images, or a smaller network",
               .causes = std::move(causes)});
}

}  // namespace

void translate_torch_errors(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::bad_alloc&) {
    fail_for_memory();
  } catch (const c10::OutOfMemoryError& error) {  // says how much was wanted and what is free
    fail_for_memory({{.what = error.what_without_backtrace()}});
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    if (text.find("can't allocate memory") != std::string::npos) fail_for_memory();
    throw Error({.what = "LibTorch failed", .found = text});
  }
}

}  // namespace stoker
