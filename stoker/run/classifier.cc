// The class Classifier of stoker/predict.h.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <pthread.h>

#include "stoker/core/batch_queue.h"
#include "stoker/core/cpu_budget.h"
#include "stoker/core/error.h"
#include "stoker/data/data_settings.h"
#include "stoker/nn/model_file.h"
#include "stoker/nn/timm/timm_model.h"
#include "stoker/pipeline/isolated_preprocessor.h"
#include "stoker/pipeline/preprocessor.h"
#include "stoker/predict.h"
#include "stoker/run/image_prediction.h"
#include "stoker/run/ready_model.h"
#include "stoker/run/weights_path.h"
#include "stoker/train/evaluate.h"

namespace stoker {
namespace {

// One image on its way through the network.
struct ImageWork : BatchWork {
  std::vector<float> values;   // as the engine takes them
  std::vector<float> outputs;  // probabilities or numbers
  std::string error;           // why there are none
};
using ImageQueue = BatchQueue<ImageWork>;

std::span<std::byte> bytes_of(std::vector<float>& values) {
  return std::as_writable_bytes(std::span(values));
}

PreprocessOptions preprocessing_of(const ReadyModel& ready, const ClassifierOptions& options) {
  const ModelCard& card = ready.loaded.card;
  const Engine* engine = ready.options.engine.get();
  return {.image = card.input.image,
          .framing = card.preprocessing.framing,
          .normalisation = card.preprocessing.normalisation(),
          .window = parse_window(card.preprocessing.window),
          .channels_last = engine != nullptr && engine->wants_channels_last(),
          .limits = {.max_side = options.max_side, .max_pixels = options.max_pixels}};
}

ReadyModel ready_model(const std::string& weights, const ClassifierOptions& options) {
  return make_ready(load_described_model(weights_path(weights)),
                    {.threads = options.threads, .device = options.device},
                    {.batch_size = options.max_batch},
                    checked_engine(options.engine, options.precision));
}

void check_options(const ClassifierOptions& options) {
  constexpr std::uint32_t kMostImages = 4096;
  if (options.max_batch == 0 || options.max_batch > kMostImages) {
    throw OptionError({.what = "cannot compute batches of this size",
                       .expected = fmt::format("`max_batch` from 1 to {}", kMostImages),
                       .found = fmt::format("{}", options.max_batch)});
  }
  if (options.max_delay.count() < 0) {
    throw OptionError({.what = "cannot wait for a negative time",
                       .expected = "`max_delay` of 0 or more",
                       .found = fmt::format("{} us", options.max_delay.count())});
  }
}

ClassifyStatus status_of(BatchOutcome outcome) {
  switch (outcome) {
    case BatchOutcome::kDone:
      return ClassifyStatus::kOk;
    case BatchOutcome::kFull:
      return ClassifyStatus::kBusy;
    case BatchOutcome::kLate:
      return ClassifyStatus::kLate;
    case BatchOutcome::kStopped:
      break;
  }
  return ClassifyStatus::kFailed;
}

const char* reason_of(ClassifyStatus status) {
  switch (status) {
    case ClassifyStatus::kBusy:
      return "too many images are waiting";
    case ClassifyStatus::kLate:
      return "the deadline has passed";
    default:
      return "the classifier is being ended";
  }
}

Classification refused(ClassifyStatus status, std::string reason) {
  Classification found;
  found.status = status;
  found.error = std::move(reason);
  return found;
}

// Calls of a classifier from their first to their last touch of it: longer than they are in its
// queue.
class Calls {
 public:
  class One {
   public:
    explicit One(Calls& calls) : calls_(calls) {
      const std::lock_guard lock(calls_.mutex_);
      ++calls_.count_;
    }
    ~One() {
      // Under the lock: when the owner has seen it, nothing here touches the calls any more.
      const std::lock_guard lock(calls_.mutex_);
      if (--calls_.count_ == 0) calls_.none_.notify_all();
    }
    One(const One&) = delete;
    One& operator=(const One&) = delete;

   private:
    Calls& calls_;
  };

  void wait_until_none() {
    std::unique_lock lock(mutex_);
    none_.wait(lock, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  std::size_t count_ = 0;
};

}  // namespace

struct Classifier::State {
  State(const std::string& weights, const ClassifierOptions& options)
      : ready(ready_model(weights, options)),
        preprocessor(preprocessing_of(ready, options)),
        queue({.max_batch = options.max_batch,
               .max_delay = options.max_delay,
               .max_callers = options.max_callers}) {
    if (options.isolate) {
      isolated = std::make_unique<IsolatedPreprocessor>(
          preprocessor.options(), IsolatedOptions{.decoders = options.decoders,
                                                  .limits = {.sample_time = options.decode_time}});
    }
    thread = std::thread([this] {
      pthread_setname_np(pthread_self(), "classify");
      compute_all();
    });
  }

  ~State() {
    queue.stop();
    thread.join();
    calls.wait_until_none();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // `prepare` writes the image's values; what it throws as an Error is the image's fault.
  template <class Prepare>
  [[nodiscard]] Classification classify(Deadline deadline, Prepare&& prepare) {
    const Calls::One call(calls);
    try {
      const auto work = std::make_shared<ImageWork>();
      const BatchOutcome outcome = queue.run(work, deadline, [&] {
        work->values.resize(ready.loaded.card.input.image.values());
        prepare(work->values);
      });
      if (outcome == BatchOutcome::kDone) return classification(*work);
      const ClassifyStatus status = status_of(outcome);
      return refused(status, reason_of(status));
    } catch (const DecodersBusy& error) {
      return refused(ClassifyStatus::kLate, error.what());
    } catch (const Error& error) {
      ++bad_images;
      return refused(ClassifyStatus::kBadImage, error.what());
    } catch (const std::exception& error) {
      return refused(ClassifyStatus::kFailed, error.what());
    }
  }

  [[nodiscard]] Classification classification(const ImageWork& work) const {
    if (!work.error.empty()) return refused(ClassifyStatus::kFailed, work.error);
    Classification found;
    static_cast<ImagePrediction&>(found) = image_prediction(ready.loaded.card, work.outputs);
    found.best =
        static_cast<std::size_t>(std::ranges::max_element(work.outputs) - work.outputs.begin());
    return found;
  }

  // ---- The classifier's own thread ----

  void compute_all() {
    const at::NoGradGuard no_grad;  // of this thread
    for (auto batch = queue.take(); !batch.empty(); batch = queue.take()) {
      try {
        compute(batch);
      } catch (const std::exception& error) {
        for (const auto& work : batch) work->error = error.what();
      } catch (...) {
        for (const auto& work : batch) work->error = "an unknown exception";
      }
      queue.finish(batch);
    }
  }

  void compute(const ImageQueue::Batch& batch) const {
    const at::Tensor logits = logits_of(ready.options, *ready.loaded.model,
                                        tensor_of(batch).to(ready.loaded.model->device()));
    const at::Tensor outputs =
        predicted_numbers(ready.options, logits).to(at::kCPU, at::kFloat).contiguous();
    const auto numbers = static_cast<std::size_t>(outputs.size(1));
    const auto* rows = outputs.const_data_ptr<float>();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      batch[i]->outputs.assign(rows + i * numbers, rows + (i + 1) * numbers);
    }
  }

  // (samples, channels, height, width), in the order of memory that the engine wants.
  [[nodiscard]] at::Tensor tensor_of(const ImageQueue::Batch& batch) const {
    const ImageShape& image = ready.loaded.card.input.image;
    const auto samples = static_cast<std::int64_t>(batch.size());
    const bool channels_last = preprocessor.options().channels_last;
    const at::Tensor values =
        channels_last ? at::empty({samples, image.height, image.width, image.channels}, at::kFloat)
                      : at::empty({samples, image.channels, image.height, image.width}, at::kFloat);
    auto* out = values.mutable_data_ptr<float>();
    for (const auto& work : batch) {
      out = std::copy(work->values.begin(), work->values.end(), out);
    }
    return channels_last ? values.movedim(-1, -3) : values;
  }

  ReadyModel ready;
  Preprocessor preprocessor;
  std::unique_ptr<IsolatedPreprocessor> isolated;
  ImageQueue queue;
  Calls calls;
  std::atomic<std::uint64_t> bad_images{0};
  std::thread thread;
};

Classifier::Classifier(const std::string& weights, const ClassifierOptions& options) {
  check_options(options);
  state_ = std::make_unique<State>(weights, options);
}
Classifier::~Classifier() = default;

Classification Classifier::classify(std::span<const std::byte> encoded, Deadline deadline) const {
  return state_->classify(deadline, [&](std::vector<float>& values) {
    if (state_->isolated) {
      state_->isolated->encoded(bytes_of(values), encoded, "the image", deadline);
    } else {
      state_->preprocessor.encoded(bytes_of(values), encoded);
    }
  });
}

Classification Classifier::classify_file(const std::string& path, Deadline deadline) const {
  Classification found = state_->classify(deadline, [&](std::vector<float>& values) {
    if (state_->isolated) {
      state_->isolated->encoded(bytes_of(values), read_image_file(path), path, deadline);
    } else {
      state_->preprocessor.file(bytes_of(values), path);
    }
  });
  found.name = path;
  return found;
}

Classification Classifier::classify_pixels(const PixelsView& pixels, Deadline deadline) const {
  return state_->classify(deadline, [&](std::vector<float>& values) {
    const ImageShape shape{pixels.height, pixels.width, pixels.channels};
    check_shape(shape);
    const std::size_t row =
        pixels.bytes_per_row == 0 ? shape.bytes_per_row() : pixels.bytes_per_row;
    state_->preprocessor.pixels(bytes_of(values), {pixels.data, shape, row});
  });
}

Classification Classifier::classify_values(std::span<const float> values, Deadline deadline) const {
  return state_->classify(deadline, [&](std::vector<float>& out) {
    const ImageShape& image = state_->ready.loaded.card.input.image;
    if (values.size() != out.size()) {
      throw Error({.what = "cannot use these values",
                   .expected = fmt::format("{} x {} x {} numbers: channels, rows, columns",
                                           image.channels, image.height, image.width),
                   .found = fmt::format("{}", values.size())});
    }
    if (!state_->preprocessor.options().channels_last) {
      std::ranges::copy(values, out.begin());
      return;
    }
    const auto channels = static_cast<std::size_t>(image.channels);
    const std::size_t plane = values.size() / channels;
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t i = 0; i < plane; ++i) out[i * channels + c] = values[c * plane + i];
    }
  });
}

const std::vector<std::string>& Classifier::class_names() const {
  return state_->ready.loaded.card.class_names;
}

ClassifierInput Classifier::input() const {
  const ImageShape& image = state_->ready.loaded.card.input.image;
  return {.height = image.height, .width = image.width, .channels = image.channels};
}

std::string Classifier::description() const {
  const ReadyModel& ready = state_->ready;
  return fmt::format("{}, {}, {}", ready.loaded.card.architecture, ready.engine_text(),
                     ready.device);
}

ClassifierStats Classifier::stats() const {
  const BatchQueueStats queue = state_->queue.stats();
  return {.callers = queue.callers,
          .batches = queue.batches,
          .images = queue.done,
          .bad_images = state_->bad_images.load(),
          .busy = queue.refused,
          .late = queue.late};
}

}  // namespace stoker
