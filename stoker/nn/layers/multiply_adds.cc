#include "stoker/nn/layers/multiply_adds.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

namespace stoker {
namespace {

thread_local std::int64_t counted = 0;

// Multiplications for each value of the output; inputs are gone when the output is there.
struct PerOutput final : at::ObserverContext {
  explicit PerOutput(std::int64_t n) : count(n) {}
  std::int64_t count;
};

std::unique_ptr<at::ObserverContext> before(const at::RecordFunction& call) {
  const std::string_view name = call.name();
  const bool convolves = name == "aten::convolution",
             multiplies = name == "aten::mm" || name == "aten::bmm",
             adds = name == "aten::addmm" || name == "aten::baddbmm";
  if (!convolves && !multiplies && !adds) return nullptr;
  const at::Tensor factor = call.inputs()[multiplies ? 0 : 1].toTensor();
  if (factor.dim() == 0) return nullptr;  // the call will fail
  if (!convolves) return std::make_unique<PerOutput>(factor.size(-1));
  // (outputs, inputs, …)
  return std::make_unique<PerOutput>(factor.numel() / std::max<std::int64_t>(1, factor.size(0)));
}

void after(const at::RecordFunction& call, at::ObserverContext* context) {
  if (context == nullptr || call.outputs().empty() || !call.outputs()[0].isTensor()) return;
  counted += static_cast<PerOutput*>(context)->count * call.outputs()[0].toTensor().numel();
}

class Counting {
 public:
  Counting()
      : handle_(at::addThreadLocalCallback(at::RecordFunctionCallback(before, after)
                                               .needsInputs(true)
                                               .needsOutputs(true)
                                               .scopes({at::RecordScope::FUNCTION}))) {
    counted = 0;
  }
  ~Counting() { at::removeCallback(handle_); }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

 private:
  at::CallbackHandle handle_;
};

}  // namespace

std::int64_t multiply_adds_of(const std::function<void()>& action) {
  const Counting counting;
  action();
  return counted;
}

}  // namespace stoker
