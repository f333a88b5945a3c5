#include "stoker/nn/onnxruntime/onnxruntime_engine.h"

#include <algorithm>
#include <array>
#include <utility>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/nn/inference/compute_streams.h"
#include "stoker/nn/onnx/engine_onnx.h"
#include "stoker/nn/onnxruntime/onnxruntime_library.h"
#include "stoker/nn/runtime_library.h"

namespace stoker {
namespace {

constexpr std::int64_t kOrtPart = 4;  // images that one thread computes together

}  // namespace

struct OnnxRuntimeEngine::Session {
  explicit Session(const OnnxRuntimeLibrary& ort, int threads)
      : library(ort),
        env(nullptr, ort.release_env),
        memory(nullptr, ort.release_memory_info),
        narrow(nullptr, ort.release_session),
        wide(nullptr, ort.release_session),
        streams(threads) {
    OrtEnv* made = nullptr;
    ort.check(ort.create_env(kOrtLogErrors, "stoker", &made), "start");
    env.reset(made);
    OrtMemoryInfo* info = nullptr;
    ort.check(ort.create_cpu_memory_info(kOrtDeviceMemory, kOrtDefaultMemory, &info), "start");
    memory.reset(info);
  }

  [[nodiscard]] RuntimeOwned<OrtSession> open(int threads) const {
    OrtSessionOptions* made = nullptr;
    library.check(library.create_session_options(&made), "start");
    const RuntimeOwned<OrtSessionOptions> options(made, library.release_session_options);
    library.check(library.set_intra_op_num_threads(made, threads), "start");
    // Its threads would take the CPUs that decode the next images.
    library.check(library.add_session_config_entry(made, "session.intra_op.allow_spinning", "0"),
                  "start");
    OrtSession* session = nullptr;
    library.check(
        library.create_session_from_array(env.get(), onnx.data(), onnx.size(), made, &session),
        "read the network");
    return {session, library.release_session};
  }

  // Made when first wanted.
  [[nodiscard]] OrtSession* open_narrow() {
    if (!narrow) narrow = open(1);
    return narrow.get();
  }
  [[nodiscard]] OrtSession* open_wide() {
    if (!wide) wide = open(streams.size());
    return wide.get();
  }

  [[nodiscard]] RuntimeOwned<OrtValue> view(const at::Tensor& tensor) const {
    OrtValue* value = nullptr;
    library.check(library.create_tensor_with_data(memory.get(), tensor.data_ptr(), tensor.nbytes(),
                                                  tensor.sizes().data(), tensor.sizes().size(),
                                                  kOrtFloat32, &value),
                  "take images");
    return {value, library.release_value};
  }

  // Writes the logits where they belong.
  void run(OrtSession* session, const at::Tensor& images, const at::Tensor& logits) const {
    const RuntimeOwned<OrtValue> input = view(images), output = view(logits);
    const std::array<const char*, 1> from = {kEngineInput}, to = {kEngineOutput};
    const std::array<const OrtValue*, 1> given = {input.get()};
    std::array<OrtValue*, 1> taken = {output.get()};
    library.check(
        library.run(session, nullptr, from.data(), given.data(), 1, to.data(), 1, taken.data()),
        "compute the network");
  }

  const OnnxRuntimeLibrary& library;
  std::string onnx;
  RuntimeOwned<OrtEnv> env;
  RuntimeOwned<OrtMemoryInfo> memory;
  RuntimeOwned<OrtSession> narrow, wide;  // with one thread, and with all
  ComputeStreams streams;
};

OnnxRuntimeEngine::OnnxRuntimeEngine(const Model& model, const EngineOptions& options)
    : input_(model.input()), options_(options) {
  if (options.precision == Precision::kBfloat16) {
    throw Error({.what = "ONNX Runtime does not compute bfloat16 on CPUs",
                 .expected = "`precision` float32 or int8",
                 .found = "bfloat16",
                 .hint = "`engine` libtorch and openvino have it"});
  }
  options_.threads = std::max(1, options.threads);
  session_ = std::make_unique<Session>(OnnxRuntimeLibrary::get(), options_.threads);
  session_->onnx = engine_onnx(model, options);
  const bool few = options.batch_size > 0 && options.batch_size <= kOrtPart;
  static_cast<void>(few ? session_->open_wide() : session_->open_narrow());
}

OnnxRuntimeEngine::~OnnxRuntimeEngine() = default;

at::Tensor OnnxRuntimeEngine::forward(const at::Tensor& x) {
  check_batch(input_, x);
  Session& session = *session_;
  const at::Tensor images = x.contiguous();
  const std::int64_t samples = images.size(0), parts = (samples + kOrtPart - 1) / kOrtPart;
  at::Tensor logits = at::empty({samples, input_.classes});
  if (parts == 1) {
    session.run(session.open_wide(), images, logits);
    return logits;
  }
  OrtSession* const narrow = session.open_narrow();
  session.streams.run(static_cast<std::size_t>(parts), [&](std::size_t i) {
    const std::int64_t first = static_cast<std::int64_t>(i) * kOrtPart;
    const std::int64_t count = std::min(kOrtPart, samples - first);
    session.run(narrow, images.narrow(0, first, count), logits.narrow(0, first, count));
  });
  return logits;
}

std::string OnnxRuntimeEngine::description() const {
  return fmt::format("ONNX Runtime, {}, {} threads", name_of(options_.precision), options_.threads);
}

}  // namespace stoker
