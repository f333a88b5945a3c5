// `stoker serve`: a trained model behind HTTP, until SIGTERM or Ctrl-C.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/setting_flags.h"
#include "stoker/core/error.h"
#include "stoker/core/stop_signals.h"
#include "stoker/data/data_settings.h"
#include "stoker/run/engine_choice.h"
#include "stoker/serve/classify_service.h"

namespace stoker {
namespace {

struct ServeFlags {
  ServeOptions options;
  EngineSettings engine;
  DecodeLimits limits = {.max_pixels = 50'000'000};  // a decoder takes up to 20 bytes for each
  std::string token_file;
  std::string max_body = "16MiB", max_bodies = "256MiB";
  std::uint32_t port = 8000, queue = 128, connections = 500, max_batch = 32;
  double max_delay_ms = 2, timeout = 10, drain = 30, decode_time = 5;
  bool isolate = true;
};

std::chrono::microseconds micros(double seconds) {
  return std::chrono::microseconds(static_cast<std::int64_t>(seconds * 1e6));
}
std::chrono::milliseconds millis(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1e3));
}

ServeOptions resolved_options(const ServeFlags& flags) {
  ServeOptions options = flags.options;
  if (!flags.token_file.empty()) options.token = read_token(flags.token_file);
  options.version = STOKER_VERSION;
  options.time_limit = millis(flags.timeout);
  options.classifier.engine = flags.engine.engine;
  options.classifier.precision = flags.engine.precision;
  options.classifier.max_batch = flags.max_batch;
  options.classifier.max_delay = micros(flags.max_delay_ms / 1000);
  options.classifier.max_pixels = flags.limits.max_pixels;
  options.classifier.max_side = flags.limits.max_side;
  options.classifier.isolate = flags.isolate;
  options.classifier.decode_time = millis(flags.decode_time);
  options.http.port = static_cast<std::uint16_t>(flags.port);
  options.http.max_waiting = flags.queue;
  options.http.max_connections = flags.connections;
  // As many as wait for one batch while another is computed.
  options.http.threads = static_cast<int>(std::min(flags.queue, 2 * flags.max_batch));
  options.http.max_body = parse_bytes(flags.max_body);
  options.http.max_bodies = parse_bytes(flags.max_bodies);
  return options;
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

void run(const ServeFlags& flags) {
  const StopSignals signals;
  const ServeOptions options = resolved_options(flags);
  ClassifyService service(options);
  if (!is_loopback(options.http.address) && options.token.empty()) {
    fmt::print(stderr, "stoker: anybody who reaches {} may ask: there is no --token-file\n",
               options.http.address);
  }
  const bool is_v6 = options.http.address.find(':') != std::string::npos;
  fmt::print(
      "model      {} ({})\naddress    http://{}:{}\n", service.model(), service.description(),
      is_v6 ? fmt::format("[{}]", options.http.address) : options.http.address, service.port());
  std::fflush(stdout);
  while (signals.received() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  fmt::print(stderr, "stoker: answering the requests that have begun\n");
  service.drain(millis(flags.drain));
}

void add_limits(const Command& command, ServeFlags& flags) {
  command.add_option("--queue", flags.queue, "requests that may wait; more get status 429")
      .between(1, 4096);
  command.add_option("--timeout", flags.timeout, "seconds until a request gets status 504")
      .between(0.001, 3600.0);
  command.add_option("--drain", flags.drain, "seconds for open requests after SIGTERM")
      .between(0.0, 3600.0);
  command.add_option("--max-body", flags.max_body, "largest body of a request");
  command.add_option("--max-bodies", flags.max_bodies, "all bodies at one time");
  command.add_option("--connections", flags.connections, "connections at one time")
      .between(1, 100'000);
  command.add_option("--decode-time", flags.decode_time, "seconds that decoding one image may take")
      .between(0.01, 3600.0);
  command.add_flag("!--no-isolate", flags.isolate,
                   "decode in this process: faster, for images that you trust");
  add_settings(command, settings_of(flags.limits));
}

}  // namespace

void add_serve_command(const Command& parent) {
  const Command command = parent.add_command("serve", "Classify images for others over HTTP");
  auto flags = std::make_shared<ServeFlags>();
  command.add_option("weights,--weights", flags->options.weights, "a run's folder or a model file")
      .required();
  command.add_option("--address", flags->options.http.address, "IP address to listen at");
  command.add_option("--port", flags->port, "port to listen at; 0: any that is free")
      .between(0, 65'535);
  command.add_option("--name", flags->options.model,
                     "the model's name in paths (default: that of the run or file)");
  command.add_option("--token-file", flags->token_file,
                     "file whose first line clients must send as bearer token");
  command.add_option("--max-batch", flags->max_batch, "images that are computed together")
      .between(1, 4096);
  command
      .add_option("--max-delay", flags->max_delay_ms,
                  "milliseconds that a batch waits for images that are being decoded")
      .between(0.0, 10'000.0);
  command.add_option("--device", flags->options.classifier.device, "auto, cpu, cuda, cuda:INDEX");
  command
      .add_option("--threads", flags->options.classifier.threads,
                  "threads of the network; 0: what pays for it")
      .between(0, 4096);
  add_settings(command, settings_of(flags->engine));
  add_limits(command, *flags);
  command.on_run([flags] { run(*flags); });
}

}  // namespace stoker
