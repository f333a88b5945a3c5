#include "stoker/distributed/gradients.h"

#include <algorithm>
#include <chrono>
#include <mutex>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include "stoker/core/error.h"
#include "stoker/distributed/detail/handles.h"

namespace stoker {
namespace {

constexpr const char* kWhat = "the sum of gradients";

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// When buckets are sent and summed, and how long at least one is under way. Sent by the thread that
// computes, summed by c10d's.
class BucketClock {
 public:
  void begin_step() {
    const std::lock_guard lock(mutex_);
    step_began_ = now();
    buckets_.clear();
  }
  // Returns the bucket's number.
  std::size_t sent(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    last_sent_ = now();
    if (under_way_++ == 0) busy_since_ = last_sent_;
    bytes_ += bytes;
    buckets_.push_back({.bytes = bytes, .ready = last_sent_ - step_began_});
    return buckets_.size() - 1;
  }
  void summed(std::size_t bucket) {
    const std::lock_guard lock(mutex_);
    buckets_[bucket].summed = now() - step_began_;
    if (--under_way_ == 0) busy_ += now() - busy_since_;
  }
  // No bucket is under way: what has passed since the last one was sent was spent waiting.
  void end_step() {
    const std::lock_guard lock(mutex_);
    exposed_ += std::max(0.0, now() - last_sent_);
  }

  [[nodiscard]] double last_sent() const { return locked(last_sent_); }
  [[nodiscard]] std::vector<BucketTimes> buckets() const { return locked(buckets_); }
  [[nodiscard]] ReductionTimes times() const {
    const std::lock_guard lock(mutex_);
    return {.bytes = bytes_, .seconds = busy_, .exposed = exposed_};
  }

 private:
  template <class T>
  [[nodiscard]] T locked(const T& value) const {
    const std::lock_guard lock(mutex_);
    return value;
  }

  mutable std::mutex mutex_;
  int under_way_ = 0;
  double step_began_ = 0, busy_since_ = 0, last_sent_ = 0, busy_ = 0, exposed_ = 0;
  std::uint64_t bytes_ = 0;
  std::vector<BucketTimes> buckets_;
};

// One sum of everything. Parameters may lack a gradient on some ranks or on all.
class SumAfterwards final : public GradientReduction {
 public:
  SumAfterwards(Group& group, const std::vector<NamedTensor>& parameters,
                const ReductionOptions& options)
      : group_(group), options_(options) {
    for (const NamedTensor& named : parameters) {
      parameters_.push_back(named.tensor);
      values_ += named.tensor.numel();
    }
  }

  void begin() override { clock_.begin_step(); }

  void finish() override {
    const at::NoGradGuard no_grad;
    at::Tensor all = packed();
    const at::Tensor sent = options_.bfloat16 ? all.to(at::kBFloat16) : all;
    const std::size_t bucket = clock_.sent(sent.nbytes());
    group_.sum(sent, kWhat);
    clock_.summed(bucket);
    clock_.end_step();
    if (options_.bfloat16) all = sent.to(at::kFloat);
    unpack(all);
  }

  [[nodiscard]] double computed_at() const override { return clock_.last_sent(); }
  [[nodiscard]] ReductionTimes times() const override { return clock_.times(); }
  [[nodiscard]] std::vector<BucketTimes> last_buckets() const override { return clock_.buckets(); }

 private:
  // The part that belongs to a parameter, lying in memory as the parameter does.
  [[nodiscard]] static at::Tensor part(const at::Tensor& all, const at::Tensor& parameter,
                                       std::int64_t offset) {
    return all.as_strided(parameter.sizes(), parameter.strides(), offset);
  }

  // All gradients, then for each parameter whether it has one.
  [[nodiscard]] at::Tensor packed() const {
    const auto count = static_cast<std::int64_t>(parameters_.size());
    at::Tensor all = at::zeros({values_ + count}, parameters_.front().options());
    std::int64_t offset = 0;
    std::vector<float> has(parameters_.size());
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const at::Tensor& gradient = parameters_[i].grad();
      has[i] = gradient.defined() ? 1 : 0;
      if (gradient.defined()) part(all, parameters_[i], offset).copy_(gradient);
      offset += parameters_[i].numel();
    }
    all.narrow(0, values_, count).copy_(at::tensor(has));
    return all;
  }

  void unpack(const at::Tensor& all) {
    const auto count = static_cast<std::int64_t>(parameters_.size());
    const at::Tensor has = all.narrow(0, values_, count).to(at::kCPU, at::kFloat).contiguous();
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (has.const_data_ptr<float>()[i] > 0) {
        parameters_[i].mutable_grad() = part(all, parameters_[i], offset);
      }
      offset += parameters_[i].numel();
    }
  }

  Group& group_;
  ReductionOptions options_;
  std::vector<at::Tensor> parameters_;
  std::int64_t values_ = 0;
  BucketClock clock_;
};

// What the Reducer calls for each bucket, and what it measures.
struct BucketSums {
  // Not an owner: c10d's thread that ends a sum may hold us last, and a group that ended there
  // would wait for that very thread.
  c10d::ProcessGroup* ranks = nullptr;
  bool bfloat16 = false;
  BucketClock clock;
};

class BucketHook final : public c10d::CppCommHookInterface<std::shared_ptr<BucketSums>> {
 public:
  using CppCommHookInterface::CppCommHookInterface;

  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
    const std::shared_ptr<BucketSums> sums = state_;
    const at::Tensor whole = bucket.getBufferRef();
    std::vector<at::Tensor> sent = {sums->bfloat16 ? whole.to(at::kBFloat16) : whole};
    const std::size_t number = sums->clock.sent(sent[0].nbytes());
    const auto future = sums->ranks->allreduce(sent)->getFuture();
    return future->then(
        [sums, whole, number, part = sent[0]](c10::ivalue::Future& done) {
          sums->clock.summed(number);
          if (done.hasError()) std::rethrow_exception(done.exception_ptr());
          if (sums->bfloat16) whole.copy_(part);
          return c10::IValue(whole);
        },
        c10::TensorType::get());
  }
};

class SumOverlapped final : public GradientReduction {
 public:
  SumOverlapped(Group& group, const std::vector<NamedTensor>& parameters,
                const ReductionOptions& options)
      : group_(group), named_(parameters), sums_(std::make_shared<BucketSums>()) {
    sums_->ranks = group.handles().ranks.get();
    sums_->bfloat16 = options.bfloat16;
    // Gradients come from the last layer to the first, and so do the buckets.
    std::vector<at::Tensor> reversed;
    for (auto it = parameters.rbegin(); it != parameters.rend(); ++it) {
      reversed.push_back(it->tensor);
    }
    group.guarded("agreeing on buckets of gradients", [&] {
      const auto buckets = c10d::compute_bucket_assignment_by_size(
          reversed, {options.first_bucket_bytes, options.bucket_bytes});
      reducer_ = std::make_unique<c10d::Reducer>(
          reversed, std::get<0>(buckets), group.handles().ranks,
          /*expect_sparse_gradients=*/std::vector<bool>(reversed.size(), false),
          static_cast<std::int64_t>(options.bucket_bytes), /*find_unused_parameters=*/false,
          /*gradient_as_bucket_view=*/true, std::unordered_map<std::size_t, std::string>{},
          static_cast<std::int64_t>(options.first_bucket_bytes),
          /*skip_all_reduce_unused_params=*/false, /*use_python_reducer=*/false,
          std::vector<std::int64_t>{});
      // With a hook of ours it sums and does not divide.
      reducer_->register_comm_hook(std::make_unique<BucketHook>(sums_));
      reducer_->push_rebuilt_params_for_all_indices();
      reducer_->rebuild_buckets();
    });
  }

  ~SumOverlapped() override {
    try {
      reducer_->remove_autograd_hooks();
      reducer_.reset();
    } catch (const std::exception&) {
      // It complains of a pass that an error broke off; that error is on its way already.
    }
  }

  void begin() override {
    sums_->clock.begin_step();
    group_.guarded(kWhat, [&] { reducer_->prepare_for_backward({}); });
  }

  // The Reducer has waited at the end of the backward pass.
  void finish() override {
    sums_->clock.end_step();
    for (const NamedTensor& named : named_) {
      if (named.tensor.grad().defined()) continue;
      throw Error({.what = "a parameter got no gradient, so the ranks cannot sum it",
                   .expected = "every parameter to take part in every step",
                   .found = named.name,
                   .hint = "Freeze it, or sum after the pass (`reduce` after)"});
    }
  }

  [[nodiscard]] double computed_at() const override { return sums_->clock.last_sent(); }
  [[nodiscard]] ReductionTimes times() const override { return sums_->clock.times(); }
  [[nodiscard]] std::vector<BucketTimes> last_buckets() const override {
    return sums_->clock.buckets();
  }

 private:
  Group& group_;
  std::vector<NamedTensor> named_;
  std::shared_ptr<BucketSums> sums_;
  std::unique_ptr<c10d::Reducer> reducer_;
};

}  // namespace

std::unique_ptr<GradientReduction> make_gradient_reduction(
    Group& group, const std::vector<NamedTensor>& parameters, const ReductionOptions& options) {
  const bool by_autograd = std::ranges::all_of(
      parameters, [](const NamedTensor& named) { return named.tensor.requires_grad(); });
  if (by_autograd && options.kind == ReductionKind::kOverlapped) {
    return std::make_unique<SumOverlapped>(group, parameters, options);
  }
  return std::make_unique<SumAfterwards>(group, parameters, options);
}

}  // namespace stoker
