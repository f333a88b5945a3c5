#include "stoker/nn/openvino/openvino_library.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/core/python_packages.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kName = "libopenvino_c.so";

// With or without a version behind it.
void append_from(const fs::path& folder, std::vector<fs::path>& found) {
  std::vector<fs::path> here;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (entry->path().filename().string().starts_with(kName)) here.push_back(entry->path());
  }
  std::ranges::sort(here);
  found.insert(found.end(), here.begin(), here.end());
}

template <typename Function>
void find_function(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function != nullptr) return;
  throw Error({.what = "this OpenVINO cannot be used",
               .expected = fmt::format("version 2022.1 or later, which has {}", name),
               .found = "none"});
}

}  // namespace

std::vector<fs::path> openvino_candidates() {
  std::vector<fs::path> found;
  if (const char* given = std::getenv("STOKER_OPENVINO"); given != nullptr) {
    append_from(given, found);
    append_from(fs::path(given) / "libs", found);
    return found;
  }
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const char* environment = std::getenv(name);
    if (environment == nullptr) continue;
    for (const fs::path& package : python_packages(environment, "openvino")) {
      append_from(package / "libs", found);
    }
  }
  // Of a wheel: site-packages/stoker/bin beside openvino.
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  append_from(program.parent_path().parent_path().parent_path() / "openvino" / "libs", found);
  found.emplace_back(kName);  // where the system looks
  return found;
}

OpenVinoLibrary::OpenVinoLibrary() {
  void* library = nullptr;
  std::vector<std::string> reasons;
  for (const fs::path& candidate : openvino_candidates()) {
    library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
    reasons.emplace_back(dlerror());
  }
  if (library == nullptr) {
    throw Error({.what = "there is no OpenVINO",
                 .expected = "libopenvino_c.so",
                 .found = reasons.empty() ? "none in STOKER_OPENVINO"
                                          : fmt::format("{}", fmt::join(reasons, "; ")),
                 .hint = "Install it (pip install openvino), or name its folder libs: "
                         "STOKER_OPENVINO=FOLDER"});
  }
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
