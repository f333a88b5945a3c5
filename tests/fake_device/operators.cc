// LibTorch's operators on the fake device. Each becomes a job that calls the CPU's kernel on
// tensors over the same memory, as kernels see it.
//
// Where an operator makes new tensors, their shapes are needed before the job runs: the CPU's
// kernel is called at once on zeros of the same shapes, and only the shapes of its results are
// used. Where shapes or results depend on values (`item`, `nonzero`), the host waits for the job.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include "tests/fake_device/fake_device.h"

namespace stoker::fake {
namespace {

using Values = std::vector<c10::IValue>;
using TensorMap = std::function<at::Tensor(const at::Tensor&)>;

std::atomic<std::uint64_t> calls_in_half = 0;

Machine& engine() { return Machine::instance(); }

bool is_ours(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().is_privateuseone();
}

// The same bytes for a kernel of the CPU. Does not keep them alive.
at::Tensor for_kernels(const at::Tensor& tensor) {
  void* const place = engine().for_kernels(tensor.unsafeGetTensorImpl()->mutable_data());
  return at::from_blob(place, tensor.sizes(), tensor.strides(),
                       at::TensorOptions(tensor.scalar_type()));
}

// Every tensor in a value, also those in lists.
c10::IValue mapped_value(const c10::IValue& value, const TensorMap& map) {
  if (value.isTensor()) return map(value.toTensor());
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& each : value.toTensorVector()) list.push_back(map(each));
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const std::optional<at::Tensor>& each : value.toOptionalTensorVector()) {
      list.push_back(each ? std::optional(map(*each)) : std::nullopt);
    }
    return list;
  }
  return value;
}

void for_each_tensor(const c10::IValue& value, const std::function<void(const at::Tensor&)>& see) {
  static_cast<void>(mapped_value(value, [&](const at::Tensor& tensor) {
    if (tensor.defined()) see(tensor);
    return tensor;
  }));
}

at::Tensor zeros_like_on_host(const at::Tensor& tensor) {
  if (!is_ours(tensor)) return tensor;
  return at::empty_strided(tensor.sizes(), tensor.strides(),
                           at::TensorOptions(tensor.scalar_type()))
      .zero_();
}

// Types are promoted by whether it was a number in the source.
at::Tensor number_of(const at::Tensor& tensor) {
  at::Tensor number = tensor.clone();
  number.unsafeGetTensorImpl()->set_wrapped_number(
      tensor.unsafeGetTensorImpl()->is_wrapped_number());
  return number;
}

at::Tensor empty_like_on(int index, const at::Tensor& host) {
  if (!host.defined()) return {};
  return at::empty_strided(host.sizes(), host.strides(), host.options().device(device(index)));
}

// Running statistics are written by operators whose schema does not say so.
bool writes(const c10::Argument& argument) {
  if (argument.name() == "running_mean" || argument.name() == "running_var") return true;
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

// One call of an operator.
class Call {
 public:
  Call(const c10::OperatorHandle& op, Values arguments)
      : op_(op), name_(toString(op.operator_name())), arguments_(std::move(arguments)) {
    find_device();
    size_results();
    const auto& declared = op.schema().arguments();
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const bool written = writes(declared[i]);
      for_each_tensor(arguments_[i], [&](const at::Tensor& tensor) { note(tensor, written); });
      on_memory_.push_back(mapped_value(
          arguments_[i], [&](const at::Tensor& tensor) { return operand(tensor, written); }));
    }
  }

  [[nodiscard]] Values run() {
    if (waits_for_result()) return results_at_once();
    Values results, made;
    const auto& returns = op_.schema().returns();
    const bool makes = std::ranges::any_of(
        returns, [](const c10::Argument& each) { return each.alias_info() == nullptr; });
    const Values shapes = makes ? rehearsed() : Values(returns.size());
    for (std::size_t i = 0; i < returns.size(); ++i) {
      results.push_back(returns[i].alias_info() != nullptr ? argument_returned(returns[i])
                                                           : empty_result(shapes[i]));
      made.push_back(returns[i].alias_info() != nullptr ? c10::IValue() : results.back());
    }
    enqueue(made);
    return results;
  }

 private:
  void find_device() {
    for (const c10::IValue& value : arguments_) {
      for_each_tensor(value, [&](const at::Tensor& tensor) {
        if (!is_ours(tensor)) return;
        if (index_ < 0) index_ = tensor.get_device();
        if (index_ == tensor.get_device()) return;
        const std::string text = "operands on two devices: " + name_;
        engine().report(Fault::kOtherDevice, text);
        TORCH_CHECK(false, text);
      });
    }
    TORCH_CHECK(index_ >= 0, name_, " has no operand on the fake device");
  }

  // Results that are given without a size get it before their memory is looked at.
  void size_results() {
    const auto& declared = op_.schema().arguments();
    std::vector<at::Tensor> empty;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      if (!declared[i].is_out() || !arguments_[i].isTensor()) continue;
      const at::Tensor& result = arguments_[i].toTensor();
      if (is_ours(result) && result.numel() == 0) empty.push_back(result);
    }
    if (empty.empty()) return;
    const Values shapes = rehearsed();
    const std::size_t outs = shapes.size();
    for (std::size_t i = 0; i < outs; ++i) {
      const at::Tensor& result = arguments_[arguments_.size() - outs + i].toTensor();
      if (result.numel() == 0) result.resize_(shapes[i].toTensor().sizes());
    }
  }

  void note(const at::Tensor& tensor, bool written) {
    if (!is_ours(tensor)) return;
    const void* const address = tensor.storage().data_ptr().get();
    touches_.push_back({.address = address, .writes = written});
    const bool is_half = tensor.scalar_type() == at::kBFloat16 || tensor.scalar_type() == at::kHalf;
    const bool is_product =
        name_.find("conv") != std::string::npos || name_.find("mm") != std::string::npos;
    if (is_half && is_product) ++calls_in_half;
  }

  at::Tensor operand(const at::Tensor& tensor, bool written) {
    if (!tensor.defined()) return tensor;
    if (is_ours(tensor)) {
      at::Tensor memory = for_kernels(tensor);
      if (written) written_.push_back(memory);
      return memory;
    }
    // A number, which real devices take as an argument of their kernels too.
    if (tensor.dim() == 0 && !written) return number_of(tensor);
    engine().report(Fault::kHostOperand, name_ + " uses a tensor of the host");
    TORCH_CHECK(false, name_, ": a tensor on ", tensor.device(), " among those of fake:", index_);
  }

  [[nodiscard]] bool waits_for_result() const {
    constexpr std::array<const char*, 4> kByValue = {"aten::nonzero", "aten::masked_select",
                                                     "aten::_unique2", "aten::bincount"};
    const auto& returns = op_.schema().returns();
    const bool numbers = std::ranges::any_of(returns, [](const c10::Argument& each) {
      return each.type()->kind() != c10::TypeKind::TensorType &&
             each.type()->kind() != c10::TypeKind::ListType;
    });
    return numbers || std::ranges::count(kByValue, op_.operator_name().name) > 0;
  }

  // On zeros, for the shapes.
  [[nodiscard]] Values rehearsed() const {
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    const at::AutoDispatchBelowADInplaceOrView no_autograd;
    Values stack;
    for (const c10::IValue& value : arguments_) {
      stack.push_back(mapped_value(value, zeros_like_on_host));
    }
    op_.callBoxed(stack);
    return stack;
  }

  [[nodiscard]] c10::IValue empty_result(const c10::IValue& shape) const {
    return mapped_value(shape,
                        [this](const at::Tensor& tensor) { return empty_like_on(index_, tensor); });
  }

  // What the schema says to be the same tensor.
  [[nodiscard]] c10::IValue argument_returned(const c10::Argument& result) const {
    const auto& declared = op_.schema().arguments();
    TORCH_CHECK(result.alias_info()->isWrite(), name_, ": views need a kernel of their own");
    for (std::size_t i = 0; i < declared.size(); ++i) {
      const auto* const info = declared[i].alias_info();
      if (info != nullptr && info->beforeSets() == result.alias_info()->beforeSets()) {
        return arguments_[i];
      }
    }
    TORCH_CHECK(false, name_, " returns an argument that it does not have");
  }

  // `made`: the results that are new tensors, in their places.
  void enqueue(const Values& made) {
    Values memory;
    for (const c10::IValue& value : made) {
      for_each_tensor(value, [&](const at::Tensor& tensor) { note(tensor, true); });
      memory.push_back(mapped_value(value, [](const at::Tensor& tensor) {
        return tensor.defined() ? for_kernels(tensor) : tensor;
      }));
    }
    engine().call(current_stream(index_), name_, touches_,
                  [op = op_, name = name_, stack = on_memory_, written = written_, memory] {
                    compute(op, name, stack, written, memory);
                  });
  }

  static void compute(const c10::OperatorHandle& op, const std::string& name, Values stack,
                      const std::vector<at::Tensor>& written, const Values& results) {
    std::vector<const void*> places;
    for (const at::Tensor& each : written) places.push_back(each.const_data_ptr());
    op.callBoxed(stack);
    for (std::size_t i = 0; i < written.size(); ++i) {
      TORCH_CHECK(written[i].const_data_ptr() == places[i], name, ": the kernel moved its result");
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      std::vector<at::Tensor> to;
      for_each_tensor(results[i], [&](const at::Tensor& tensor) { to.push_back(tensor); });
      if (to.empty()) continue;  // an argument
      std::size_t next = 0;
      for_each_tensor(stack[i], [&](const at::Tensor& from) { to.at(next++).copy_(from); });
    }
  }

  [[nodiscard]] Values results_at_once() {
    const auto found = std::make_shared<Values>();
    const StreamName stream = current_stream(index_);
    engine().call(stream, name_, touches_, [op = op_, stack = on_memory_, found] {
      *found = stack;
      op.callBoxed(*found);
    });
    engine().wait_for(stream);
    Values results;
    for (const c10::IValue& value : *found) {
      results.push_back(mapped_value(value, [this](const at::Tensor& tensor) {
        return tensor.defined() ? tensor.to(device(index_)) : tensor;
      }));
    }
    return results;
  }

  c10::OperatorHandle op_;
  std::string name_;
  Values arguments_, on_memory_;
  std::vector<Touch> touches_;
  std::vector<at::Tensor> written_;
  int index_ = -1;
};

Values popped(std::size_t count, torch::jit::Stack* stack) {
  const auto first = stack->end() - static_cast<std::ptrdiff_t>(count);
  Values values(first, stack->end());
  stack->erase(first, stack->end());
  return values;
}

void push(Values results, torch::jit::Stack* stack) {
  for (c10::IValue& result : results) stack->push_back(std::move(result));
}

void any_operator(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  push(Call(op, popped(op.schema().arguments().size(), stack)).run(), stack);
}

c10::OperatorHandle found(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "");
}

// Devices of others have names of their own for convolutions.
void convolution(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  static const c10::OperatorHandle plain = found("aten::convolution");
  push(Call(plain, popped(op.schema().arguments().size(), stack)).run(), stack);
}

void convolution_backward(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  static const c10::OperatorHandle plain = found("aten::convolution_backward");
  Values values = popped(op.schema().arguments().size(), stack);
  // The plain one is told the bias's size, after gradient, input and weight.
  values.insert(values.begin() + 3,
                c10::IValue(std::vector<std::int64_t>{values[0].toTensor().size(1)}));
  push(Call(plain, std::move(values)).run(), stack);
}

at::Tensor made(at::IntArrayRef sizes, std::optional<at::ScalarType> type,
                std::optional<at::Layout> /*layout*/, std::optional<at::Device> where,
                std::optional<bool> /*pinned*/, std::optional<at::MemoryFormat> format) {
  at::globalContext().lazyInitDevice(c10::DeviceType::PrivateUse1);
  const c10::DeviceGuard guard(where.value_or(device(-1)));
  return at::detail::empty_generic(sizes, c10::GetAllocator(c10::DeviceType::PrivateUse1),
                                   c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                   c10::dtype_or_default(type), format);
}

at::Tensor made_strided(at::IntArrayRef sizes, at::IntArrayRef strides,
                        std::optional<at::ScalarType> type, std::optional<at::Layout> /*layout*/,
                        std::optional<at::Device> where, std::optional<bool> /*pinned*/) {
  at::globalContext().lazyInitDevice(c10::DeviceType::PrivateUse1);
  const c10::DeviceGuard guard(where.value_or(device(-1)));
  return at::detail::empty_strided_generic(
      sizes, strides, c10::GetAllocator(c10::DeviceType::PrivateUse1),
      c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), c10::dtype_or_default(type));
}

Touch touch_of(const at::Tensor& tensor, bool writes) {
  return {.address = tensor.storage().data_ptr().get(), .writes = writes};
}

void copy_to_device(const at::Tensor& from, const at::Tensor& to, bool late) {
  const int index = to.get_device();
  const StreamName stream = current_stream(index);
  const std::vector<Touch> touches = {touch_of(to, true)};
  const at::Tensor memory = for_kernels(to);
  const auto copy = [memory](const at::Tensor& source) {
    return [memory, source] { at::Tensor(memory).copy_(source); };
  };
  // Memory that is not pinned is read at once, by the host.
  if (!late || !from.is_pinned() || !from.is_non_overlapping_and_dense()) {
    engine().call(stream, "a copy to the device", touches, copy(from.clone()));
    if (!late) engine().wait_for(stream);
    return;
  }
  engine().count_late_copy(index);
  engine().call_copy_from(stream, "a late copy to the device", touches, from.const_data_ptr(),
                          from.nbytes(), copy(from));
}

void copy_to_host(const at::Tensor& from, const at::Tensor& to, bool late) {
  const StreamName stream = current_stream(from.get_device());
  engine().call(stream, "a copy to the host", {touch_of(from, false)},
                [memory = for_kernels(from), to] { at::Tensor(to).copy_(memory); });
  if (late && to.is_pinned()) {
    engine().count_late_copy(from.get_device());
  } else {
    engine().wait_for(stream);
  }
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool late) {
  if (from.is_cpu()) {
    copy_to_device(from, to, late);
  } else if (to.is_cpu()) {
    copy_to_host(from, to, late);
  } else if (from.device() != to.device()) {
    copy_to_device(from.cpu(), to, false);
  } else {
    engine().call(current_stream(to.get_device()), "a copy on the device",
                  {touch_of(from, false), touch_of(to, true)},
                  [source = for_kernels(from), memory = for_kernels(to)] {
                    at::Tensor(memory).copy_(source);
                  });
  }
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  return copy_from(from, to.resize_(from.sizes()), false);
}

const at::Tensor& resized(const at::Tensor& self, at::IntArrayRef sizes,
                          std::optional<at::MemoryFormat> /*format*/) {
  const at::Storage& storage = self.storage();
  const std::size_t bytes = at::detail::computeStorageNbytesContiguous(
      sizes, self.dtype().itemsize(), static_cast<std::size_t>(self.storage_offset()));
  if (bytes > storage.nbytes()) {
    TORCH_CHECK(self.numel() == 0, "the fake device does not keep values of a tensor that grows");
    const c10::DeviceGuard guard(self.device());
    storage.set_data_ptr_noswap(c10::GetAllocator(self.device().type())->allocate(bytes));
    storage.set_nbytes(bytes);
  }
  self.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  return self;
}

void note_stream(at::Tensor& self, at::Stream stream) {
  engine().note_use(self.storage().data_ptr().get(), name_of(stream));
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&any_operator>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", made);
  m.impl("empty_strided", made_strided);
  m.impl("_copy_from", copy_from);
  m.impl("_copy_from_and_resize", copy_from_and_resize);
  m.impl("resize_", resized);
  m.impl("record_stream", note_stream);
  m.impl("as_strided", at::native::as_strided_tensorimpl);
  m.impl("view", [](const at::Tensor& self, at::IntArrayRef sizes) {
    return at::native::view(self, sizes);
  });
  m.impl("_reshape_alias",
         [](const at::Tensor& self, at::IntArrayRef sizes, at::IntArrayRef strides) {
           return at::native::_reshape_alias(self, sizes, strides);
         });
  m.impl("unfold", at::native::unfold);
  m.impl("set_.source_Storage_storage_offset", at::native::set_storage_cpu_);
  m.impl("convolution_overrideable", torch::CppFunction::makeFromBoxedFunction<&convolution>());
  m.impl("convolution_backward_overrideable",
         torch::CppFunction::makeFromBoxedFunction<&convolution_backward>());
}

}  // namespace

std::uint64_t calls_in_16_bits() { return calls_in_half; }

}  // namespace stoker::fake
