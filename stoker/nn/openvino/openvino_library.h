// OpenVINO's functions for C, found when they are first wanted: neither building Stoker nor
// starting it needs OpenVINO. Declared here because a user's version may be another than any that
// we built with; these have not changed since 2022.1.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker {

struct OvCore;
struct OvModel;
struct OvCompiledModel;
struct OvRequest;
struct OvTensor;

struct OvShape {
  std::int64_t rank = 0;
  const std::int64_t* sizes = nullptr;
};
struct OvRange {
  std::int64_t least = 0, most = 0;
};
struct OvPartialShape {
  OvRange rank;
  const OvRange* sizes = nullptr;
};
inline constexpr int kOvFloat32 = 4;  // ov_element_type_e

// One for the process. Each function returns 0, or a status that check() explains.
class OpenVinoLibrary {
 public:
  // Loaded at the first call. Throws Error, which says where it was looked for, where there is
  // none.
  [[nodiscard]] static const OpenVinoLibrary& get();

  // Throws Error with OpenVINO's own words.
  void check(int status, const char* doing) const;

  int (*core_create)(OvCore**);
  void (*core_free)(OvCore*);
  int (*core_read_model_from_memory_buffer)(const OvCore*, const char*, std::size_t,
                                            const OvTensor*, OvModel**);
  // Then pairs of texts, as many as the fourth argument says.
  int (*core_compile_model)(const OvCore*, const OvModel*, const char*, std::size_t,
                            OvCompiledModel**, ...);
  int (*model_reshape_single_input)(const OvModel*, OvPartialShape);
  void (*model_free)(OvModel*);
  int (*compiled_model_create_infer_request)(const OvCompiledModel*, OvRequest**);
  void (*compiled_model_free)(OvCompiledModel*);
  int (*infer_request_set_input_tensor)(OvRequest*, const OvTensor*);
  int (*infer_request_get_output_tensor)(const OvRequest*, OvTensor**);
  int (*infer_request_start_async)(OvRequest*);
  int (*infer_request_wait)(OvRequest*);
  void (*infer_request_free)(OvRequest*);
  int (*tensor_create_from_host_ptr)(int, OvShape, void*, OvTensor**);
  int (*tensor_data)(const OvTensor*, void**);
  void (*tensor_free)(OvTensor*);

 private:
  OpenVinoLibrary();
  const char* (*get_last_err_msg_)();
};

}  // namespace stoker
