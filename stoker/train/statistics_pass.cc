#include "stoker/train/statistics_pass.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "stoker/nn/layers/running_share.h"
#include "stoker/train/device_batches.h"
#include "stoker/train/training_feed.h"

namespace stoker {
namespace {

std::vector<at::Tensor> statistics_of(const Model& model) {
  std::vector<at::Tensor> all;
  for (const NamedTensor& buffer : model.changing_buffers()) {
    if (buffer.tensor.is_floating_point()) all.push_back(buffer.tensor);
  }
  return all;
}

// Means over the ranks, each of which counts by its samples.
void average_over_ranks(const std::vector<at::Tensor>& statistics, std::uint64_t samples,
                        Group& group) {
  std::vector<at::Tensor> parts;
  for (const at::Tensor& tensor : statistics) parts.push_back(tensor.flatten().to(at::kDouble));
  parts.push_back(at::ones({1}, parts.front().options()));
  const at::Tensor sums = at::cat(parts).mul_(static_cast<double>(samples));
  group.sum(sums, "statistics of averaged weights");
  const at::Tensor means = sums / sums[-1];
  std::int64_t offset = 0;
  for (const at::Tensor& tensor : statistics) {
    tensor.copy_(means.narrow(0, offset, tensor.numel()).view_as(tensor));
    offset += tensor.numel();
  }
}

}  // namespace

void recompute_statistics(Model& model, const TrainData& data, const TrainOptions& options,
                          std::uint32_t epoch, StepSync& sync) {
  const std::vector<at::Tensor> statistics = statistics_of(model);
  if (statistics.empty()) return;
  const at::NoGradGuard no_grad;
  FeedOptions feed_options = training_feed_options(data, options, sync.group());
  feed_options.begin = {.epoch = epoch, .position = 0};
  feed_options.epochs = epoch + 1;
  prepare_feed_for(model.device(), *data.train, feed_options);
  Feed feed(data.train, data.policy, feed_options);
  DeviceBatches batches(feed, model.device(), data.normalisation);
  std::uint64_t count = 0, samples = 0;
  while (const auto batch = batches.next()) {
    const auto rows = static_cast<std::uint64_t>(batch->labels.size(0));
    // A rank may have no sample in a short batch; statistics that are shared are those of all.
    if (rows > 0 || options.shared_statistics) ++count;
    samples += rows;
    const RunningShare share(count == 0 ? 1 : 1 / static_cast<double>(count));
    const DrawKey draw{.seed = options.feed.seed,
                       .batch = batch->number,
                       .first_place = feed_options.rank,
                       .place_step = feed_options.ranks};
    const at::Tensor images =
        options.feed.views > 1 ? batch->values.select(1, 0).contiguous() : batch->values;
    sync.pass([&] { model.note_statistics(images, draw); });
  }
  if (sync.group() == nullptr || options.shared_statistics) return;
  average_over_ranks(statistics, samples, *sync.group());
}

}  // namespace stoker
