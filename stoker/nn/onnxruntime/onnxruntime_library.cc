#include "stoker/nn/onnxruntime/onnxruntime_library.h"

#include <string>

#include <dlfcn.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/nn/runtime_library.h"

namespace stoker {
namespace {

// The oldest table that has all we use.
constexpr std::uint32_t kTableVersion = 11;

struct TableOfVersion {
  const void* const* (*get)(std::uint32_t version);
  const char* (*version)();
};

const void* const* function_table() {
  void* library = open_runtime({.name = "ONNX Runtime",
                                .file = "libonnxruntime.so",
                                .variable = "STOKER_ONNXRUNTIME",
                                .package = "onnxruntime",
                                .folder = "capi"});
  const auto base = reinterpret_cast<const TableOfVersion* (*)()>(dlsym(library, "OrtGetApiBase"));
  const void* const* table = base != nullptr ? base()->get(kTableVersion) : nullptr;
  if (table != nullptr) return table;
  throw Error({.what = "this ONNX Runtime cannot be used",
               .expected = fmt::format("version 1.{} or later", kTableVersion),
               .found = base != nullptr ? base()->version() : "a library without OrtGetApiBase"});
}

}  // namespace

OnnxRuntimeLibrary::OnnxRuntimeLibrary() {
  const void* const* table = function_table();
  const auto take = [&]<typename Function>(std::size_t place, Function*& function) {
    function = reinterpret_cast<Function*>(const_cast<void*>(table[place]));
  };
  take(OrtPlaces::kGetErrorMessage, get_error_message_);
  take(OrtPlaces::kReleaseStatus, release_status_);
  take(OrtPlaces::kCreateEnv, create_env);
  take(OrtPlaces::kCreateSessionOptions, create_session_options);
  take(OrtPlaces::kSetIntraOpNumThreads, set_intra_op_num_threads);
  take(OrtPlaces::kAddSessionConfigEntry, add_session_config_entry);
  take(OrtPlaces::kCreateSessionFromArray, create_session_from_array);
  take(OrtPlaces::kCreateCpuMemoryInfo, create_cpu_memory_info);
  take(OrtPlaces::kCreateTensorWithDataAsOrtValue, create_tensor_with_data);
  take(OrtPlaces::kRun, run);
  take(OrtPlaces::kReleaseEnv, release_env);
  take(OrtPlaces::kReleaseSessionOptions, release_session_options);
  take(OrtPlaces::kReleaseSession, release_session);
  take(OrtPlaces::kReleaseMemoryInfo, release_memory_info);
  take(OrtPlaces::kReleaseValue, release_value);
}

const OnnxRuntimeLibrary& OnnxRuntimeLibrary::get() {
  static const OnnxRuntimeLibrary library;
  return library;
}

void OnnxRuntimeLibrary::check(OrtStatus* status, const char* doing) const {
  if (status == nullptr) return;
  const std::string text = get_error_message_(status);
  release_status_(status);
  throw Error({.what = fmt::format("ONNX Runtime cannot {}", doing), .found = text});
}

}  // namespace stoker
