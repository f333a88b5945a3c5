#include "stoker/train/device_check.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/DeviceGuard.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stoker/core/error.h"
#include "stoker/cuda/kernel_check.h"
#include "stoker/nn/layers/vector_math.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/train/checkpointing.h"
#include "stoker/train/detail/pattern_source.h"
#include "stoker/train/local_sync.h"
#include "stoker/train/rank_sync.h"
#include "stoker/train/share_state.h"
#include "stoker/train/trainer.h"

namespace stoker {
namespace {

constexpr std::uint64_t kTrainSamples = 256, kJudgedSamples = 128;
constexpr double kLeastAccuracy = 0.9;
// TF32, which GPUs take for float32 convolutions, has 10 bits behind the point.
constexpr double kForwardTolerance = 1e-2;
constexpr double kRanksTolerance = 1e-2;

TrainData check_data() {
  return {.train = std::make_shared<detail::PatternSource>(0, kTrainSamples),
          .validation = std::make_shared<detail::PatternSource>(kTrainSamples, kJudgedSamples),
          .policy = Policy::parse("hflip(0.5)"),
          .normalisation = {}};
}

TrainOptions check_options() {
  TrainOptions options{.feed = {.workers = 2, .batch_size = 16, .epochs = 3, .seed = 3},
                       .top_k = 2};
  options.schedule = {.sched = ScheduleKind::kOneCycle, .lr = 0.05};
  return options;
}

State new_state(const c10::Device& device, Precision precision = Precision::kFloat32) {
  auto model = make_model(device_check_network(),
                          {.image = {.height = 32, .width = 32, .channels = 3}, .classes = 4}, 1);
  model->to(device);
  model->compute_in(precision);
  return {std::move(model), OptimiserOptions{}};
}

// What a run ended with; the weights lie on the CPU.
struct Trained {
  std::vector<NamedTensor> weights;
  double loss = 0, top1 = 0;
  double samples_per_second = 0;
};

class LastEpoch final : public Observer {
 public:
  Trained found;
  void epoch_done(const EpochReport& report) override {
    found.loss = report.validation.loss;
    found.top1 = report.validation.top1;
    found.samples_per_second = report.samples_per_second;
  }
};

Trained finish(State& state, const TrainOptions& options, StepSync& sync) {
  LastEpoch last;
  Trainer(state, check_data(), options, last, {}, sync).run();
  for (const NamedTensor& each : all_tensors(*state.model)) {
    last.found.weights.push_back({each.name, each.tensor.to(at::kCPU).clone()});
  }
  return last.found;
}

Trained finish(State& state, const TrainOptions& options) {
  LocalSync alone(state, options.shared_statistics);
  return finish(state, options, alone);
}

Trained train_on(const c10::Device& device, Precision precision = Precision::kFloat32,
                 const TrainOptions& options = check_options()) {
  State state = new_state(device, precision);
  return finish(state, options);
}

// The largest difference of a value, as a fraction of its tensor's largest; over all tensors. NaN
// is infinitely far.
double distance(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const at::Tensor left = a[i].tensor.to(at::kDouble), right = b[i].tensor.to(at::kDouble);
    const double scale = std::max(right.abs().max().item<double>(), 1e-12);
    const double here = (left - right).abs().max().item<double>() / scale;
    largest = here <= largest ? largest : here;
    if (!(here >= 0)) return std::numeric_limits<double>::infinity();
  }
  return largest;
}

CheckStatus passed_if(bool holds) { return holds ? CheckStatus::kPassed : CheckStatus::kFailed; }

// The checks of one device, in order; later ones compare with what earlier ones trained.
class Checks {
 public:
  Checks(const c10::Device& device, const DeviceCheckOptions& options)
      : device_(device), options_(options), check_{.device = device.str()} {}

  [[nodiscard]] DeviceCheck run() {
    at::set_num_threads(options_.threads);
    settle_vector_math();
    add("training", [&](CheckResult& result) { training(result); });
    add("repeated", [&](CheckResult& result) { repeated(result); });
    add("agrees with the CPU", [&](CheckResult& result) { agreement(result); });
    add("resume", [&](CheckResult& result) { resume(result); });
    add("bfloat16", [&](CheckResult& result) { mixed(result, Precision::kBfloat16); });
    add("float16", [&](CheckResult& result) { mixed(result, Precision::kFloat16); });
    add("kernels", [&](CheckResult& result) { kernels(result); });
    return check_;
  }

 private:
  template <typename Action>
  void add(const char* name, const Action& action) {
    CheckResult result{.name = name, .status = CheckStatus::kPassed, .detail = {}};
    const auto begin = std::chrono::steady_clock::now();
    try {
      action(result);
    } catch (const c10::Error& error) {
      result.status = CheckStatus::kFailed;
      result.detail = error.what_without_backtrace();
    } catch (const std::exception& error) {
      result.status = CheckStatus::kFailed;
      result.detail = error.what();
    }
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (options_.on_result) options_.on_result(check_.device, result);
    check_.results.push_back(std::move(result));
  }

  void training(CheckResult& result) {
    whole_ = train_on(device_);
    check_.samples_per_second = whole_.samples_per_second;
    result.status = passed_if(whole_.top1 >= kLeastAccuracy);
    result.detail = fmt::format(
        "accuracy {:.1f} % (at least {:.0f} %), loss {:.4f}, {:.0f} samples/s", 100 * whole_.top1,
        100 * kLeastAccuracy, whole_.loss, whole_.samples_per_second);
  }

  void repeated(CheckResult& result) {
    need_training();
    repeat_distance_ = distance(train_on(device_).weights, whole_.weights);
    // A CPU with the same number of threads has no excuse; accelerators add in any order.
    result.status = passed_if(!device_.is_cpu() || repeat_distance_ == 0);
    result.detail = repeat_distance_ == 0
                        ? "the same bits"
                        : fmt::format("weights differ by up to {:.1e} of a tensor's largest value",
                                      repeat_distance_);
  }

  void agreement(CheckResult& result) {
    need_training();
    const c10::Device cpu = c10::DeviceType::CPU;
    const State here = new_state(device_), there = new_state(cpu);
    const at::NoGradGuard no_grad;
    const at::Tensor images = at::linspace(-2, 2, 24'576).view({8, 3, 32, 32});
    const at::Tensor expected = there.model->forward(images);
    const at::Tensor found = here.model->forward(images.to(device_)).to(at::kCPU);
    const double logits = distance({{"", found}}, {{"", expected}});
    const Trained cpu_run = device_.is_cpu() ? whole_ : train_on(cpu);
    result.status = passed_if(logits <= kForwardTolerance && cpu_run.top1 >= kLeastAccuracy);
    result.detail = fmt::format(
        "logits differ by {:.1e} (at most {:.0e}); after training: accuracy {:.1f} % here, {:.1f} "
        "% "
        "on the CPU; {:.0f} samples/s here, {:.0f} on the CPU",
        logits, kForwardTolerance, 100 * whole_.top1, 100 * cpu_run.top1, whole_.samples_per_second,
        cpu_run.samples_per_second);
  }

  // Stopped in the middle of the second epoch of 16 steps, saved to a file, read by a new state.
  void resume(CheckResult& result) {
    need_training();
    constexpr int kSteps = 24;
    const CheckpointInterval interval{.count = 1, .unit = IntervalUnit::kEpochs};
    Checkpointing checkpoints(options_.folder, interval, 1, "device check");
    {
      State state = new_state(device_);
      Observer observer;
      int steps = 0;
      Trainer(state, check_data(), check_options(), observer, [&] {
        return ++steps == kSteps;
      }).run();
      checkpoints.save(state);
    }
    State state = new_state(device_);
    const auto restored = checkpoints.restore(state);
    if (restored.path.empty() || state.step != kSteps) {
      result.status = CheckStatus::kFailed;
      result.detail = fmt::format("the checkpoint holds step {}, expected {}", state.step, kSteps);
      return;
    }
    const double found = distance(finish(state, check_options()).weights, whole_.weights);
    // What two unbroken runs differ by is no fault of resuming.
    const double allowed = 10 * repeat_distance_;
    result.status = passed_if(found <= allowed);
    result.detail =
        found == 0 ? fmt::format("from step {}: the same bits as the unbroken run", kSteps)
                   : fmt::format(
                         "from step {}: weights differ by {:.1e} from the unbroken run; allowed is "
                         "10 times what two unbroken runs differ by, {:.1e}",
                         kSteps, found, allowed);
  }

  void mixed(CheckResult& result, Precision precision) {
    need_training();
    if (precision == Precision::kFloat16 && device_.is_cpu()) {
      result.status = CheckStatus::kSkipped;
      result.detail = "float16 is for accelerators";
      return;
    }
    const Trained low = train_on(device_, precision);
    result.status = passed_if(low.top1 >= kLeastAccuracy);
    result.detail =
        fmt::format("accuracy {:.1f} % (at least {:.0f} %), loss {:.4f}, {:.0f} samples/s",
                    100 * low.top1, 100 * kLeastAccuracy, low.loss, low.samples_per_second);
  }

  void kernels(CheckResult& result) {
    const KernelCheck found =
        device_.is_cpu() ? check_cpu_kernels() : cuda::check_cuda_kernels(device_.index());
    check_.kernel_tables = found.tables;
    if (!found.problem.empty()) {
      result.status = CheckStatus::kFailed;
      result.detail = found.problem;
      return;
    }
    result.status = passed_if(found.compared > 0 && found.different.empty());
    result.detail = fmt::format("{} comparisons with the references, {} different{}",
                                found.compared, found.different.size(),
                                found.different.empty() ? "" : ": " + found.different.front());
  }

  void need_training() const {
    if (whole_.weights.empty()) throw std::runtime_error("nothing to compare: training failed");
  }

  c10::Device device_;
  DeviceCheckOptions options_;
  DeviceCheck check_;
  Trained whole_;
  double repeat_distance_ = 0;
};

// One that nobody has at this moment.
int free_port() {
  const int probe = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  const bool bound = ::bind(probe, reinterpret_cast<sockaddr*>(&address), length) == 0 &&
                     ::getsockname(probe, reinterpret_cast<sockaddr*>(&address), &length) == 0;
  ::close(probe);
  if (!bound) throw Error({.what = "cannot get a free port of this machine"});
  return ntohs(address.sin_port);
}

// Batch norms with the statistics of all ranks: the result then differs by rounding alone. One
// epoch, since training magnifies roundings.
TrainOptions rank_options() {
  TrainOptions options = check_options();
  options.feed.epochs = 1;
  options.shared_statistics = true;
  return options;
}

Trained train_as_rank(const c10::Device& device, int rank, int port, int threads) {
  at::set_num_threads(threads);  // LibTorch keeps it for each thread
  const c10::DeviceGuard guard(device);
  const Launch launch = read_launch({.rank = rank, .ranks = 2, .master_port = port},
                                    [](const char*) { return std::nullopt; });
  Group group(launch, {.timeout = std::chrono::seconds(60), .device = device});
  State state = new_state(device);
  share_state(group, state);
  RankSync sync(group, state, {.shared_statistics = true});
  Trained trained = finish(state, rank_options(), sync);
  group.leave();
  return trained;
}

}  // namespace

const char* to_string(CheckStatus status) {
  switch (status) {
    case CheckStatus::kPassed:
      return "passed";
    case CheckStatus::kFailed:
      return "FAILED";
    case CheckStatus::kSkipped:
      break;
  }
  return "skipped";
}

std::string device_check_network() { return "cnn:16,32"; }

bool DeviceCheck::passed() const {
  return std::ranges::none_of(
      results, [](const CheckResult& each) { return each.status == CheckStatus::kFailed; });
}

DeviceCheck check_device(const c10::Device& device, const DeviceCheckOptions& options) {
  return Checks(device, options).run();
}

CheckResult check_two_ranks(const c10::Device& first, const c10::Device& second,
                            const DeviceCheckOptions& options) {
  CheckResult result{.name = "two ranks", .detail = {}};
  const auto begin = std::chrono::steady_clock::now();
  try {
    at::set_num_threads(options.threads);
    settle_vector_math();
    const Trained alone = train_on(first, Precision::kFloat32, rank_options());
    const c10::Device devices[] = {first, second};
    Trained found[2];
    std::exception_ptr errors[2];
    {
      const int port = free_port();
      std::vector<std::jthread> ranks;
      for (int rank = 0; rank < 2; ++rank) {
        ranks.emplace_back([&, rank] {
          try {
            found[rank] = train_as_rank(devices[rank], rank, port, options.threads);
          } catch (...) {
            errors[rank] = std::current_exception();
          }
        });
      }
    }
    for (const std::exception_ptr& error : errors) {
      if (error) std::rethrow_exception(error);
    }
    const double between = distance(found[1].weights, found[0].weights);
    const double to_one = distance(found[0].weights, alone.weights);
    result.status = passed_if(between == 0 && to_one <= kRanksTolerance);
    result.detail = fmt::format(
        "{} and {}: weights {}; they differ by {:.1e} from one process (at most {:.0e})",
        first.str(), second.str(), between == 0 ? "identical on both" : "DIFFER between the ranks",
        to_one, kRanksTolerance);
  } catch (const std::exception& error) {
    result.status = CheckStatus::kFailed;
    result.detail = error.what();
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (options.on_result) options.on_result(first.str() + ", " + second.str(), result);
  return result;
}

}  // namespace stoker
