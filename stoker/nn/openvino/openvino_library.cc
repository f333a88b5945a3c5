#include "stoker/nn/openvino/openvino_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/nn/runtime_library.h"

namespace stoker {
namespace {

template <typename Function>
void find_function(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function != nullptr) return;
  throw Error({.what = "this OpenVINO cannot be used",
               .expected = fmt::format("version 2022.1 or later, which has {}", name),
               .found = "none"});
}

}  // namespace

OpenVinoLibrary::OpenVinoLibrary() {
  void* library = open_runtime({.name = "OpenVINO",
                                .file = "libopenvino_c.so",
                                .variable = "STOKER_OPENVINO",
                                .package = "openvino",
                                .folder = "libs"});
  const auto find = [&](const char* name, auto*& function) {
    find_function(library, name, function);
  };
  find("ov_get_last_err_msg", get_last_err_msg_);
  find("ov_core_create", core_create);
  find("ov_core_free", core_free);
  find("ov_core_read_model_from_memory_buffer", core_read_model_from_memory_buffer);
  find("ov_core_compile_model", core_compile_model);
  find("ov_model_reshape_single_input", model_reshape_single_input);
  find("ov_model_free", model_free);
  find("ov_compiled_model_create_infer_request", compiled_model_create_infer_request);
  find("ov_compiled_model_free", compiled_model_free);
  find("ov_infer_request_set_input_tensor", infer_request_set_input_tensor);
  find("ov_infer_request_get_output_tensor", infer_request_get_output_tensor);
  find("ov_infer_request_start_async", infer_request_start_async);
  find("ov_infer_request_wait", infer_request_wait);
  find("ov_infer_request_free", infer_request_free);
  find("ov_tensor_create_from_host_ptr", tensor_create_from_host_ptr);
  find("ov_tensor_data", tensor_data);
  find("ov_tensor_free", tensor_free);
}

const OpenVinoLibrary& OpenVinoLibrary::get() {
  static const OpenVinoLibrary library;
  return library;
}

void OpenVinoLibrary::check(int status, const char* doing) const {
  if (status == 0) return;
  const char* text = get_last_err_msg_();
  throw Error({.what = fmt::format("OpenVINO cannot {}", doing),
               .found = text != nullptr ? std::string(text) : fmt::format("status {}", status)});
}

}  // namespace stoker
