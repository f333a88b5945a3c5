#include "stoker/pipeline/isolated_preprocessor.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "stoker/core/cpu_budget.h"
#include "stoker/core/invariant.h"
#include "stoker/data/sources/encoded_source.h"

namespace stoker {
namespace {

// Its samples are the images that come, in their order. Reading one that has not come yet waits.
class ComingImages final : public EncodedSource {
 public:
  explicit ComingImages(const PreprocessOptions& options)
      : EncodedSource(source_options(options)) {}

  void post(std::span<const std::byte> file) {
    const std::lock_guard lock(mutex_);
    file_ = file;
    ++posted_;
    changed_.notify_all();
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

  [[nodiscard]] std::uint64_t size() const override { return std::uint64_t{1} << 40; }
  [[nodiscard]] const std::vector<std::string>& class_names() const override { return classes_; }
  // These two are called in the worker process too, where no lock may be taken: a thread that does
  // not exist there could hold it.
  [[nodiscard]] std::string sample_name(std::uint64_t) const override { return "the image"; }
  [[nodiscard]] Result<std::int64_t> label(std::uint64_t, SampleBuffer&) const override {
    return std::int64_t{-1};
  }
  [[nodiscard]] Result<std::span<const std::byte>> read_bytes(std::uint64_t index,
                                                              const MakeRoom& room) const override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || posted_ > index; });
    if (stopped_) return ErrorDetails{.what = "no more images come"};
    const std::span<std::byte> bytes = room(file_.size());
    if (!file_.empty()) std::memcpy(bytes.data(), file_.data(), file_.size());
    return std::span<const std::byte>(bytes);
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::span<const std::byte> file_;  // of sample posted_ - 1; its caller waits
  std::uint64_t posted_ = 0;
  bool stopped_ = false;
  std::vector<std::string> classes_;
};

FeedOptions decoder_options(const PreprocessOptions& options, const IsolationLimits& limits) {
  return {.workers = 1,
          .batch_size = 1,
          .shuffle = false,
          .pixel_type = options.pixel_type,
          .normalisation = options.normalisation,
          .channels_last = options.channels_last,
          .isolate = true,
          .isolation = limits,
          .on_error = OnError::kOmit,
          .max_errors = std::numeric_limits<std::uint64_t>::max()};
}

// One process, for one image at a time.
class Decoder {
 public:
  Decoder(const PreprocessOptions& options, const Policy& policy, const IsolationLimits& limits)
      : images_(std::make_shared<ComingImages>(options)),
        feed_(images_, policy, decoder_options(options, limits)) {}
  ~Decoder() { images_->stop(); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // Why it could not be decoded; empty where it was. Throws where the process cannot live.
  [[nodiscard]] std::string decode(std::span<std::byte> out, std::span<const std::byte> file) {
    images_->post(file);
    const std::optional<Batch> batch = feed_.next();
    STOKER_INVARIANT(batch.has_value(), "a feed without end has ended");
    if (feed_.faults().size() > faults_) {
      faults_ = feed_.faults().size();
      return feed_.faults().back().reason;
    }
    std::ranges::copy(batch->pixels(), out.begin());
    return {};
  }

  // The feed remembers every image that failed; a new one remembers none.
  [[nodiscard]] bool is_worn() const noexcept { return faults_ >= 1000; }

 private:
  std::shared_ptr<ComingImages> images_;
  Feed feed_;
  std::size_t faults_ = 0;
};

}  // namespace

class IsolatedPreprocessor::Impl {
 public:
  Impl(const PreprocessOptions& options, const IsolatedOptions& isolation)
      : options_(options), limits_(isolation.limits), policy_(resolved_framing(options)) {
    const int decoders =
        isolation.decoders == 0 ? std::max(2, cpu_budget().cpus) : isolation.decoders;
    for (int i = 0; i < decoders; ++i) free_.push_back(started());
  }

  void decode(std::span<std::byte> out, std::span<const std::byte> file, const std::string& name,
              Clock::time_point deadline) {
    std::unique_ptr<Decoder> decoder = take(deadline);
    std::string reason;
    try {
      if (!decoder) decoder = started();
      reason = decoder->decode(out, file);
      if (decoder->is_worn()) decoder = started();
    } catch (const std::exception& error) {
      add(nullptr);  // the next caller tries to start another
      throw std::runtime_error(error.what());
    }
    add(std::move(decoder));
    if (!reason.empty()) throw Error({.what = reason, .path = name == "the image" ? "" : name});
  }

 private:
  [[nodiscard]] std::unique_ptr<Decoder> started() const {
    return std::make_unique<Decoder>(options_, policy_, limits_);
  }
  [[nodiscard]] std::unique_ptr<Decoder> take(Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    const auto is_free = [this] { return !free_.empty(); };
    if (deadline == Clock::time_point::max()) {
      changed_.wait(lock, is_free);
    } else if (!changed_.wait_until(lock, deadline, is_free)) {
      throw DecodersBusy({.what = "the deadline has passed before a decoder was free"});
    }
    std::unique_ptr<Decoder> decoder = std::move(free_.back());
    free_.pop_back();
    return decoder;
  }
  void add(std::unique_ptr<Decoder> decoder) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(decoder));
    changed_.notify_one();
  }

  const PreprocessOptions options_;
  const IsolationLimits limits_;
  const Policy policy_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Decoder>> free_;  // null: one that has to be started
};

IsolatedPreprocessor::IsolatedPreprocessor(const PreprocessOptions& options,
                                           const IsolatedOptions& isolation)
    : impl_(std::make_unique<Impl>(options, isolation)) {}
IsolatedPreprocessor::~IsolatedPreprocessor() = default;

void IsolatedPreprocessor::encoded(std::span<std::byte> out, std::span<const std::byte> file,
                                   const std::string& name, Clock::time_point deadline) const {
  impl_->decode(out, file, name, deadline);
}

}  // namespace stoker
