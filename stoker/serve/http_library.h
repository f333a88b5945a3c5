// libmicrohttpd, loaded when a server starts: only `serve` needs it, so nothing else has to carry
// it. One library for the process; it is never unloaded.
#pragma once

#include <microhttpd.h>

namespace stoker {

// Its functions that are used here, under their names without MHD_.
struct HttpLibrary {
  decltype(&MHD_start_daemon) start_daemon = nullptr;
  decltype(&MHD_quiesce_daemon) quiesce_daemon = nullptr;
  decltype(&MHD_stop_daemon) stop_daemon = nullptr;
  decltype(&MHD_get_daemon_info) get_daemon_info = nullptr;
  decltype(&MHD_add_connection) add_connection = nullptr;
  decltype(&MHD_get_connection_info) get_connection_info = nullptr;
  decltype(&MHD_get_connection_values) get_connection_values = nullptr;
  decltype(&MHD_suspend_connection) suspend_connection = nullptr;
  decltype(&MHD_resume_connection) resume_connection = nullptr;
  decltype(&MHD_create_response_from_buffer) create_response_from_buffer = nullptr;
  decltype(&MHD_add_response_header) add_response_header = nullptr;
  decltype(&MHD_queue_response) queue_response = nullptr;
  decltype(&MHD_destroy_response) destroy_response = nullptr;
};

// Throws Error, with the name of the package, where it is not installed.
[[nodiscard]] const HttpLibrary& http_library();

}  // namespace stoker
