#include "stoker/train/rank_sync.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "stoker/nn/layers/shared_statistics.h"

namespace stoker {
namespace {

// Places in the beat; then microseconds for each rank.
constexpr std::int64_t kStop = 0, kMarks = 1, kBusy = 2;
// Places in the sums; then running statistics.
constexpr std::int64_t kLoss = 0, kRight = 1, kStatistics = 2;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void add(ReductionTimes& to, const ReductionTimes& end, const ReductionTimes& begin) {
  to.bytes += end.bytes - begin.bytes;
  to.seconds += end.seconds - begin.seconds;
  to.exposed += end.exposed - begin.exposed;
}

}  // namespace

RankSync::RankSync(Group& group, State& state, const RankSyncOptions& options)
    : group_(group), state_(state), options_(options) {
  if (options.shared_statistics) group.open_statistics();
  stages_changed();
  begin_epoch();
}

RankSync::~RankSync() = default;

void RankSync::stages_changed() {
  if (gradients_) add(gone_, gradients_->times(), before_);
  before_ = {};
  gradients_.reset();  // before another one hangs its hooks on the same parameters
  gradients_ =
      make_gradient_reduction(group_, state_.model->trainable_parameters(), options_.reduction);
  statistics_.clear();
  if (options_.shared_statistics) return;  // they are the same on all ranks already
  for (const NamedTensor& buffer : state_.model->changing_buffers()) {
    if (buffer.tensor.is_floating_point()) statistics_.push_back(buffer.tensor);
  }
}

void RankSync::begin_epoch() {
  busy_.assign(static_cast<std::size_t>(group_.ranks()), 0);
  before_ = gradients_->times();
  gone_ = {};
}

void RankSync::begin_step() {
  own_ = state_.empty_sums();
  began_ = now();
}

void RankSync::start_beat(const Stop& stop, std::uint64_t marks) {
  beat_ = at::zeros({kBusy + group_.ranks()}, at::kLong);
  auto* values = beat_.data_ptr<std::int64_t>();
  values[kStop] = stop && stop() ? 1 : 0;
  values[kMarks] = static_cast<std::int64_t>(marks);
  values[kBusy + group_.rank()] = static_cast<std::int64_t>(last_busy_ * 1e6);
  beat_sent_.emplace(group_.start_sum(beat_, "the step's beat"));
}

void RankSync::pass(const std::function<void()>& action) {
  group_.guarded("the sum of gradients", [&] {
    std::optional<SharedStatistics> shared;
    if (options_.shared_statistics) {
      shared.emplace([this](const at::Tensor& tensor) { group_.sum_statistics(tensor); });
    }
    action();
  });
}

void RankSync::begin_gradients() { gradients_->begin(); }

void RankSync::finish_gradients() {
  gradients_->finish();
  last_busy_ = gradients_->computed_at() - began_;
}

void RankSync::start_sums(std::uint64_t samples) {
  const at::NoGradGuard no_grad;
  const double share = static_cast<double>(own_.samples) / static_cast<double>(samples);
  std::vector<at::Tensor> parts = {own_.loss.view({1}), own_.right.to(at::kDouble).view({1})};
  for (const at::Tensor& tensor : statistics_) {
    parts.push_back(tensor.flatten().to(at::kDouble).mul_(share));
  }
  sums_ = at::cat(parts);
  sums_sent_.emplace(group_.start_sum(sums_, "the step's sums"));
}

void RankSync::finish_sums(std::uint64_t samples) {
  const at::NoGradGuard no_grad;
  sums_sent_->wait();
  sums_sent_.reset();
  EpochSums& sums = state_.sums;
  sums.loss.add_(sums_[kLoss]);
  sums.right.add_(sums_[kRight].to(at::kLong));
  sums.samples += samples;
  std::int64_t offset = kStatistics;
  for (const at::Tensor& tensor : statistics_) {
    tensor.copy_(sums_.narrow(0, offset, tensor.numel()).view_as(tensor));
    offset += tensor.numel();
  }
  finish_beat();
}

void RankSync::finish_beat() {
  beat_sent_->wait();
  beat_sent_.reset();
  const auto* values = beat_.const_data_ptr<std::int64_t>();
  stop_ = values[kStop] > 0;
  marks_ = static_cast<std::uint64_t>(values[kMarks]);
  for (std::size_t rank = 0; rank < busy_.size(); ++rank) {
    busy_[rank] += static_cast<double>(values[kBusy + static_cast<std::int64_t>(rank)]) * 1e-6;
  }
}

std::optional<RankTimes> RankSync::times() const {
  const auto slowest = std::max_element(busy_.begin(), busy_.end());
  RankTimes times{.ranks = group_.ranks(),
                  .slowest = static_cast<int>(slowest - busy_.begin()),
                  .slowest_seconds = *slowest,
                  .mean_seconds = std::accumulate(busy_.begin(), busy_.end(), 0.0) /
                                  static_cast<double>(busy_.size()),
                  .reduction = gone_};
  add(times.reduction, gradients_->times(), before_);
  return times;
}

}  // namespace stoker
