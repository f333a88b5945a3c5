#include "stoker/nn/openvino/openvino_engine.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/nn/onnx/engine_onnx.h"
#include "stoker/nn/openvino/openvino_library.h"
#include "stoker/nn/runtime_library.h"

namespace stoker {
namespace {

constexpr std::int64_t kOvPart = 8;  // images that one thread computes together
// As many images of a last part, or fewer, are computed one by one.
constexpr std::int64_t kFewImages = 2;

}  // namespace

// As it was read.
struct OpenVinoEngine::Network {
  explicit Network(const OpenVinoLibrary& ov) : library(ov), core(nullptr, ov.core_free) {
    OvCore* made = nullptr;
    ov.check(ov.core_create(&made), "start");
    core.reset(made);
  }

  const OpenVinoLibrary& library;
  std::string onnx;
  RuntimeOwned<OvCore> core;
};

// For parts of one size.
struct OpenVinoEngine::Compiled {
  // One part on its way.
  struct Lane {
    RuntimeOwned<OvRequest> request;
    RuntimeOwned<OvTensor> input = {nullptr, nullptr};
    at::Tensor padded = {};  // where the last part has fewer images
    std::int64_t first = -1, count = 0;
  };

  // `streams` parts are computed at once.
  Compiled(const Network& network, const ImageShape& image, const EngineOptions& options,
           std::int64_t part_size, int streams)
      : library(network.library),
        part(part_size),
        compiled(nullptr, network.library.compiled_model_free) {
    OvModel* read = nullptr;
    library.check(library.core_read_model_from_memory_buffer(
                      network.core.get(), network.onnx.data(), network.onnx.size(), nullptr, &read),
                  "read the network");
    const RuntimeOwned<OvModel> model(read, library.model_free);
    const auto exactly = [](std::int64_t size) { return OvRange{size, size}; };
    const std::array<OvRange, 4> sizes = {exactly(part), exactly(image.channels),
                                          exactly(image.height), exactly(image.width)};
    library.check(library.model_reshape_single_input(read, {exactly(4), sizes.data()}),
                  "fit the network to the images");
    const std::string threads = fmt::format("{}", options.threads);
    const std::string stream_text = fmt::format("{}", streams);
    const char* precision = options.precision == Precision::kBfloat16 ? "bf16" : "f32";
    OvCompiledModel* made = nullptr;
    library.check(
        library.core_compile_model(network.core.get(), read, "CPU", 6, &made,
                                   "INFERENCE_NUM_THREADS", threads.c_str(), "NUM_STREAMS",
                                   stream_text.c_str(), "INFERENCE_PRECISION_HINT", precision),
        "compile the network");
    compiled.reset(made);
    // One more than computes, so that a stream never waits for the next part.
    for (int i = 0; i <= streams; ++i) {
      OvRequest* request = nullptr;
      library.check(library.compiled_model_create_infer_request(made, &request),
                    "compile the network");
      lanes.push_back({.request = {request, library.infer_request_free}});
    }
  }

  void start(Lane& lane, const at::Tensor& images) const {
    const std::array<std::int64_t, 4> sizes = {images.size(0), images.size(1), images.size(2),
                                               images.size(3)};
    OvTensor* tensor = nullptr;
    library.check(library.tensor_create_from_host_ptr(kOvFloat32, {4, sizes.data()},
                                                      images.data_ptr(), &tensor),
                  "take images");
    lane.input = {tensor, library.tensor_free};
    library.check(library.infer_request_set_input_tensor(lane.request.get(), tensor),
                  "take images");
    library.check(library.infer_request_start_async(lane.request.get()), "compute the network");
  }

  void finish(Lane& lane, const at::Tensor& logits) const {
    if (lane.first < 0) return;
    const std::int64_t first = std::exchange(lane.first, -1);
    library.check(library.infer_request_wait(lane.request.get()), "compute the network");
    OvTensor* tensor = nullptr;
    library.check(library.infer_request_get_output_tensor(lane.request.get(), &tensor),
                  "give its output");
    const RuntimeOwned<OvTensor> output(tensor, library.tensor_free);
    void* data = nullptr;
    library.check(library.tensor_data(tensor, &data), "give its output");
    const at::Tensor all = at::from_blob(data, {lane.count, logits.size(1)}, at::kFloat);
    logits.narrow(0, first, lane.count).copy_(all);
  }

  void run(const at::Tensor& images, const at::Tensor& logits) {
    try {
      run_parts(images, logits);
    } catch (...) {
      // The others still read the images, which end with the caller.
      for (Lane& lane : lanes) {
        if (std::exchange(lane.first, -1) >= 0) library.infer_request_wait(lane.request.get());
      }
      throw;
    }
  }

  void run_parts(const at::Tensor& images, const at::Tensor& logits) {
    const std::int64_t samples = images.size(0);
    std::size_t next = 0;
    for (std::int64_t first = 0; first < samples; first += part) {
      Lane& lane = lanes[next++ % lanes.size()];
      finish(lane, logits);
      lane.first = first;
      lane.count = std::min(part, samples - first);
      at::Tensor own = images.narrow(0, first, lane.count);
      if (lane.count < part) {
        lane.padded = at::zeros({part, own.size(1), own.size(2), own.size(3)});
        lane.padded.narrow(0, 0, lane.count).copy_(own);
        own = lane.padded;
      }
      start(lane, own);
    }
    for (std::size_t i = 0; i < lanes.size(); ++i) finish(lanes[next++ % lanes.size()], logits);
  }

  const OpenVinoLibrary& library;
  std::int64_t part;
  RuntimeOwned<OvCompiledModel> compiled;
  std::vector<Lane> lanes;
};

OpenVinoEngine::OpenVinoEngine(const Model& model, const EngineOptions& options)
    : input_(model.input()),
      options_(options),
      network_(std::make_unique<Network>(OpenVinoLibrary::get())) {
  options_.threads = std::max(1, options.threads);
  network_->onnx = engine_onnx(model, options);
  const bool few = options.batch_size > 0 && options.batch_size <= kFewImages;
  static_cast<void>(few ? singles() : parts());
}

OpenVinoEngine::Compiled& OpenVinoEngine::parts() {
  if (!parts_) {
    parts_ =
        std::make_unique<Compiled>(*network_, input_.image, options_, kOvPart, options_.threads);
  }
  return *parts_;
}

OpenVinoEngine::Compiled& OpenVinoEngine::singles() {
  if (!singles_) singles_ = std::make_unique<Compiled>(*network_, input_.image, options_, 1, 1);
  return *singles_;
}

OpenVinoEngine::~OpenVinoEngine() = default;

at::Tensor OpenVinoEngine::forward(const at::Tensor& x) {
  check_batch(input_, x);
  const at::Tensor images = x.contiguous();
  const std::int64_t samples = images.size(0), rest = samples % kOvPart;
  const std::int64_t single = rest <= kFewImages ? rest : 0, in_parts = samples - single;
  at::Tensor logits = at::empty({samples, input_.classes});
  if (in_parts > 0) {
    parts().run(images.narrow(0, 0, in_parts), logits.narrow(0, 0, in_parts));
  }
  if (single > 0) {
    singles().run(images.narrow(0, in_parts, single), logits.narrow(0, in_parts, single));
  }
  return logits;
}

std::string OpenVinoEngine::description() const {
  return fmt::format("OpenVINO, {}, {} threads", name_of(options_.precision), options_.threads);
}

}  // namespace stoker
