// One side of bench/ddp.py: training steps of a network for photographs on one batch that lies in
// memory, as one of several ranks (torchrun's variables). Rank 0 prints JSON: the median seconds of
// a step, and what its sums cost.
//
//   ddp_step resnet18 8 10 [overlap|after|none] [bucket megabytes] [none|bfloat16]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/core/pages.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/train/rank_sync.h"

namespace stoker {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWarmUp = 3;

struct Setting {
  std::string architecture, reduce = "overlap";
  std::int64_t batch = 8;  // of one rank
  int steps = 10;
  double bucket_megabytes = 25;
  bool bfloat16 = false;
};

class Steps {
 public:
  Steps(Group& group, const Setting& setting)
      : group_(group),
        setting_(setting),
        state_(make_model(setting.architecture, {.image = {224, 224, 3}, .classes = 1000}, 0),
               {.kind = OptimiserKind::kMomentum}),
        sync_(group, state_,
              {.reduction = {.kind = setting.reduce == "after" ? ReductionKind::kAfterwards
                                                               : ReductionKind::kOverlapped,
                             .bfloat16 = setting.bfloat16,
                             .bucket_bytes =
                                 static_cast<std::size_t>(setting.bucket_megabytes * (1 << 20))}}) {
    at::manual_seed(group.rank());
    images_ = at::randn({setting.batch, 3, 224, 224});
    labels_ = at::randint(1000, {setting.batch}, at::kLong);
  }

  void make_one() {
    const bool sums = setting_.reduce != "none";
    const auto start = Clock::now();
    sync_.begin_step();
    if (sums) sync_.start_beat({}, 0);
    Model::Pass pass;
    const LossOptions loss{.weight = 1.0 / group_.ranks(), .forward_done = [&] {
                             forward_ = std::chrono::duration<double>(Clock::now() - start).count();
                             if (sums) sync_.begin_gradients();
                           }};
    sync_.pass([&] { pass = state_.model->backward(images_, labels_, loss); });
    EpochSums& own = sync_.sums();
    own.loss.add_(pass.loss, static_cast<double>(setting_.batch));
    own.samples += static_cast<std::uint64_t>(setting_.batch);
    const auto samples = own.samples * static_cast<std::uint64_t>(group_.ranks());
    if (sums) {
      sync_.finish_gradients();
      sync_.start_sums(samples);
    }
    state_.optimiser.step(0.01);
    if (sums) sync_.finish_sums(samples);
  }

  [[nodiscard]] std::string measured() {
    std::vector<double> seconds;
    ReductionTimes before;
    for (int step = -kWarmUp; step < setting_.steps; ++step) {
      if (step == 0) before = sync_.times()->reduction;
      const auto start = Clock::now();
      make_one();
      const std::chrono::duration<double> took = Clock::now() - start;
      if (step >= 0) seconds.push_back(took.count());
    }
    std::ranges::nth_element(seconds, seconds.begin() + setting_.steps / 2);
    const ReductionTimes after = sync_.times()->reduction;
    const double steps = setting_.steps;
    std::vector<std::string> buckets;
    for (const BucketTimes& bucket : sync_.last_buckets()) {
      buckets.push_back(
          fmt::format("[{}, {:.5f}, {:.5f}]", bucket.bytes, bucket.ready, bucket.summed));
    }
    return fmt::format(R"({{"step": {:.5f}, "forward": {:.5f}, "bytes": {}, "reduction": {:.5f}, )"
                       R"("exposed": {:.5f}, "buckets": [{}]}})",
                       seconds[static_cast<std::size_t>(setting_.steps / 2)], forward_,
                       static_cast<double>(after.bytes - before.bytes) / steps,
                       (after.seconds - before.seconds) / steps,
                       (after.exposed - before.exposed) / steps, fmt::join(buckets, ", "));
  }

 private:
  Group& group_;
  Setting setting_;
  State state_;
  RankSync sync_;
  at::Tensor images_, labels_;
  double forward_ = 0;  // seconds, of the step made last
};

void run(const Setting& setting) {
  at::set_num_threads(1);
  Group group(read_launch({}), {.timeout = std::chrono::seconds(120)});
  {
    Steps steps(group, setting);
    const std::string text = steps.measured();
    if (group.rank() == 0) fmt::print("{}\n", text);
  }
  group.leave();
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  try {
    stoker::keep_freed_memory();
    if (argc < 4) throw stoker::Error({.what = "needed: model, batch size of a rank, steps"});
    stoker::Setting setting{.architecture = argv[1], .batch = std::stoll(argv[2])};
    setting.steps = std::stoi(argv[3]);
    if (argc > 4) setting.reduce = argv[4];
    if (argc > 5) setting.bucket_megabytes = std::stod(argv[5]);
    if (argc > 6) setting.bfloat16 = std::string(argv[6]) == "bfloat16";
    stoker::run(setting);
  } catch (const std::exception& error) {
    fmt::print(stderr, "ddp_step: {}\n", error.what());
    return 1;
  }
}
