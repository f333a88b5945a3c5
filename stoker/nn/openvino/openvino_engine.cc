#include "stoker/nn/openvino/openvino_engine.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/nn/model_file.h"
#include "stoker/nn/onnx/onnx_export.h"
#include "stoker/nn/openvino/openvino_library.h"

namespace stoker {
namespace {

// Frees with one of the library's functions.
template <typename Thing>
using Owned = std::unique_ptr<Thing, void (*)(Thing*)>;

ModelCard logits_card(const Model& model) {
  ModelCard card;
  card.architecture = model.architecture();
  card.input = model.input();
  return card;
}

}  // namespace

struct OpenVinoEngine::Compiled {
  // One part on its way.
  struct Lane {
    Owned<OvRequest> request;
    Owned<OvTensor> input = {nullptr, nullptr};
    at::Tensor padded = {};  // where the last part has fewer images
    std::int64_t first = -1, count = 0;
  };

  explicit Compiled(const OpenVinoLibrary& ov)
      : library(ov),
        core(nullptr, ov.core_free),
        model(nullptr, ov.model_free),
        compiled(nullptr, ov.compiled_model_free) {}

  void start(Lane& lane, const at::Tensor& part) const {
    const std::array<std::int64_t, 4> sizes = {part.size(0), part.size(1), part.size(2),
                                               part.size(3)};
    OvTensor* tensor = nullptr;
    library.check(library.tensor_create_from_host_ptr(kOvFloat32, {4, sizes.data()},
                                                      part.data_ptr(), &tensor),
                  "take images");
    lane.input = {tensor, library.tensor_free};
    library.check(library.infer_request_set_input_tensor(lane.request.get(), tensor),
                  "take images");
    library.check(library.infer_request_start_async(lane.request.get()), "compute the network");
  }

  void finish(Lane& lane, at::Tensor& logits) const {
    if (lane.first < 0) return;
    library.check(library.infer_request_wait(lane.request.get()), "compute the network");
    OvTensor* tensor = nullptr;
    library.check(library.infer_request_get_output_tensor(lane.request.get(), &tensor),
                  "give its output");
    const Owned<OvTensor> output(tensor, library.tensor_free);
    void* data = nullptr;
    library.check(library.tensor_data(tensor, &data), "give its output");
    const at::Tensor all = at::from_blob(data, {lane.count, logits.size(1)}, at::kFloat);
    logits.narrow(0, lane.first, lane.count).copy_(all);
    lane.first = -1;
  }

  const OpenVinoLibrary& library;
  Owned<OvCore> core;
  Owned<OvModel> model;
  Owned<OvCompiledModel> compiled;
  std::vector<Lane> lanes;
};

OpenVinoEngine::OpenVinoEngine(const Model& model, const Options& options)
    : input_(model.input()),
      options_(options),
      compiled_(std::make_unique<Compiled>(OpenVinoLibrary::get())) {
  const OpenVinoLibrary& ov = compiled_->library;
  OvCore* core = nullptr;
  ov.check(ov.core_create(&core), "start");
  compiled_->core.reset(core);
  const std::string onnx = encode_onnx(model, logits_card(model));
  OvModel* read = nullptr;
  ov.check(ov.core_read_model_from_memory_buffer(core, onnx.data(), onnx.size(), nullptr, &read),
           "read the network");
  compiled_->model.reset(read);
  const auto exactly = [](std::int64_t size) { return OvRange{size, size}; };
  const ImageShape& image = input_.image;
  const std::array<OvRange, 4> sizes = {exactly(options.part), exactly(image.channels),
                                        exactly(image.height), exactly(image.width)};
  ov.check(ov.model_reshape_single_input(read, {exactly(4), sizes.data()}),
           "fit the network to the images");
  const std::string threads = fmt::format("{}", std::max(1, options.threads));
  const char* precision = options.precision == Precision::kBfloat16 ? "bf16" : "f32";
  OvCompiledModel* compiled = nullptr;
  ov.check(ov.core_compile_model(core, read, "CPU", 6, &compiled, "INFERENCE_NUM_THREADS",
                                 threads.c_str(), "NUM_STREAMS", threads.c_str(),
                                 "INFERENCE_PRECISION_HINT", precision),
           "compile the network");
  compiled_->compiled.reset(compiled);
  // One more than computes, so that a stream never waits for the next part.
  for (int i = 0; i <= std::max(1, options.threads); ++i) {
    OvRequest* request = nullptr;
    ov.check(ov.compiled_model_create_infer_request(compiled, &request), "compile the network");
    compiled_->lanes.push_back({.request = {request, ov.infer_request_free}});
  }
}

OpenVinoEngine::~OpenVinoEngine() = default;

at::Tensor OpenVinoEngine::forward(const at::Tensor& x) {
  const at::Tensor images = x.contiguous();
  const std::int64_t samples = images.size(0), part = options_.part;
  at::Tensor logits = at::empty({samples, input_.classes});
  std::size_t next = 0;
  std::vector<Compiled::Lane>& lanes = compiled_->lanes;
  for (std::int64_t first = 0; first < samples; first += part) {
    Compiled::Lane& lane = lanes[next++ % lanes.size()];
    compiled_->finish(lane, logits);
    lane.first = first;
    lane.count = std::min(part, samples - first);
    at::Tensor own = images.narrow(0, first, lane.count);
    if (lane.count < part) {
      lane.padded = at::zeros({part, own.size(1), own.size(2), own.size(3)});
      lane.padded.narrow(0, 0, lane.count).copy_(own);
      own = lane.padded;
    }
    compiled_->start(lane, own);
  }
  for (std::size_t i = 0; i < lanes.size(); ++i)
    compiled_->finish(lanes[next++ % lanes.size()], logits);
  return logits;
}

std::string OpenVinoEngine::description() const {
  return fmt::format("OpenVINO, {}, {} threads", name_of(options_.precision), options_.threads);
}

}  // namespace stoker
