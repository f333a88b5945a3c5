#include "stoker/serve/http_library.h"

#include <string>

#include <dlfcn.h>
#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

constexpr const char* kSharedName = "libmicrohttpd.so.12";

template <class Function>
void look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function != nullptr) return;
  throw Error({.what = "this libmicrohttpd cannot be used",
               .path = kSharedName,
               .expected = fmt::format("version 0.9.75 or later, which has {}", name),
               .found = "none"});
}

HttpLibrary loaded() {
  void* library = dlopen(kSharedName, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    throw Error({.what = "cannot serve: libmicrohttpd is not installed",
                 .expected = kSharedName,
                 .found = reason == nullptr ? "none" : reason,
                 .hint = "Install the package libmicrohttpd12 (Debian, Ubuntu) or libmicrohttpd "
                         "(Fedora, RHEL)"});
  }
  HttpLibrary found;
  look_up(library, "MHD_start_daemon", found.start_daemon);
  look_up(library, "MHD_quiesce_daemon", found.quiesce_daemon);
  look_up(library, "MHD_stop_daemon", found.stop_daemon);
  look_up(library, "MHD_get_daemon_info", found.get_daemon_info);
  look_up(library, "MHD_add_connection", found.add_connection);
  look_up(library, "MHD_get_connection_info", found.get_connection_info);
  look_up(library, "MHD_get_connection_values", found.get_connection_values);
  look_up(library, "MHD_suspend_connection", found.suspend_connection);
  look_up(library, "MHD_resume_connection", found.resume_connection);
  look_up(library, "MHD_create_response_from_buffer", found.create_response_from_buffer);
  look_up(library, "MHD_add_response_header", found.add_response_header);
  look_up(library, "MHD_queue_response", found.queue_response);
  look_up(library, "MHD_destroy_response", found.destroy_response);
  return found;
}

}  // namespace

const HttpLibrary& http_library() {
  static const HttpLibrary library = loaded();
  return library;
}

}  // namespace stoker
