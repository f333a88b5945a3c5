// ONNX Runtime's functions for C. Declared here because its package for Python, which most people
// have, brings the library without headers. The library gives a table of functions, to which
// versions only ever append; the places are those of onnxruntime_c_api.h (nightly compares them
// with the header of Debian 13).
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker {

struct OrtEnv;
struct OrtMemoryInfo;
struct OrtSession;
struct OrtSessionOptions;
struct OrtStatus;
struct OrtValue;

inline constexpr int kOrtFloat32 = 1;        // ONNXTensorElementDataType
inline constexpr int kOrtLogErrors = 3;      // OrtLoggingLevel
inline constexpr int kOrtDeviceMemory = 0;   // OrtAllocatorType
inline constexpr int kOrtDefaultMemory = 0;  // OrtMemType

// Places in the table.
struct OrtPlaces {
  static constexpr std::size_t kGetErrorMessage = 2, kCreateEnv = 3, kCreateSessionFromArray = 8,
                               kRun = 9, kCreateSessionOptions = 10, kSetIntraOpNumThreads = 24,
                               kCreateTensorWithDataAsOrtValue = 49, kCreateCpuMemoryInfo = 69,
                               kReleaseEnv = 92, kReleaseStatus = 93, kReleaseMemoryInfo = 94,
                               kReleaseSession = 95, kReleaseValue = 96,
                               kReleaseSessionOptions = 100, kAddSessionConfigEntry = 130;
};

// One for the process. Each function that returns a status returns null, or one for check().
class OnnxRuntimeLibrary {
 public:
  // Loaded at the first call. Throws Error, which says where it was looked for, where there is
  // none.
  [[nodiscard]] static const OnnxRuntimeLibrary& get();

  // Throws Error with ONNX Runtime's own words, and frees the status.
  void check(OrtStatus* status, const char* doing) const;

  OrtStatus* (*create_env)(int, const char*, OrtEnv**);
  OrtStatus* (*create_session_options)(OrtSessionOptions**);
  OrtStatus* (*set_intra_op_num_threads)(OrtSessionOptions*, int);
  OrtStatus* (*add_session_config_entry)(OrtSessionOptions*, const char*, const char*);
  OrtStatus* (*create_session_from_array)(const OrtEnv*, const void*, std::size_t,
                                          const OrtSessionOptions*, OrtSession**);
  OrtStatus* (*create_cpu_memory_info)(int, int, OrtMemoryInfo**);
  OrtStatus* (*create_tensor_with_data)(const OrtMemoryInfo*, void*, std::size_t,
                                        const std::int64_t*, std::size_t, int, OrtValue**);
  // Options (null), names and values of the inputs, their number; the same of the outputs.
  OrtStatus* (*run)(OrtSession*, const void*, const char* const*, const OrtValue* const*,
                    std::size_t, const char* const*, std::size_t, OrtValue**);
  void (*release_env)(OrtEnv*);
  void (*release_session_options)(OrtSessionOptions*);
  void (*release_session)(OrtSession*);
  void (*release_memory_info)(OrtMemoryInfo*);
  void (*release_value)(OrtValue*);

 private:
  OnnxRuntimeLibrary();
  const char* (*get_error_message_)(const OrtStatus*);
  void (*release_status_)(OrtStatus*);
};

}  // namespace stoker
