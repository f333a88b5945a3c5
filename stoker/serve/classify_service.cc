#include "stoker/serve/classify_service.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <filesystem>
#include <functional>
#include <numeric>
#include <optional>
#include <semaphore>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stoker/core/error.h"
#include "stoker/core/input_file.h"
#include "stoker/serve/inference_protocol.h"
#include "stoker/serve/serve_metrics.h"

namespace stoker {
namespace {

using Clock = std::chrono::steady_clock;
using OrderedJson = nlohmann::ordered_json;

enum class Route : std::uint8_t {
  kClassify,
  kInfer,
  kLive,
  kReady,
  kServer,
  kModel,
  kModelReady,
  kMetrics,
  kNone
};
constexpr std::array<const char*, 9> kRouteNames = {
    "classify", "infer", "live", "ready", "server", "model", "model_ready", "metrics", "none"};

bool takes_post(Route route) { return route == Route::kClassify || route == Route::kInfer; }

std::string without_version(std::string path) {
  const std::size_t at = path.find("/versions/");
  if (at == std::string::npos) return path;
  const std::size_t end = path.find('/', at + std::string_view("/versions/").size());
  return path.erase(at, end == std::string::npos ? std::string::npos : end - at);
}

Route route_of(const HttpRequest& request, const std::string& model) {
  if (request.path == "/classify") return Route::kClassify;
  if (request.path == "/metrics") return Route::kMetrics;
  if (request.path == "/v2" || request.path == "/v2/") return Route::kServer;
  if (request.path == "/v2/health/live") return Route::kLive;
  if (request.path == "/v2/health/ready") return Route::kReady;
  const std::string path = without_version(request.path), base = "/v2/models/" + model;
  if (path == base) return Route::kModel;
  if (path == base + "/ready") return Route::kModelReady;
  return path == base + "/infer" ? Route::kInfer : Route::kNone;
}

// Takes as long whatever is wrong: a clock must not tell how much of a token is right.
bool same_text(std::string_view given, std::string_view wanted) {
  unsigned difference = given.size() == wanted.size() ? 0 : 1;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const char c = given.empty() ? '\0' : given[i % given.size()];
    difference |= static_cast<unsigned char>(c) ^ static_cast<unsigned char>(wanted[i]);
  }
  return difference == 0;
}

unsigned status_code(ClassifyStatus status) {
  switch (status) {
    case ClassifyStatus::kOk:
      return 200;
    case ClassifyStatus::kBadImage:
      return 400;
    case ClassifyStatus::kBusy:
      return 429;
    case ClassifyStatus::kLate:
      return 504;
    case ClassifyStatus::kFailed:
      break;
  }
  return 500;
}

// A run's folder, or the name of the file.
std::string model_name(const std::string& weights) {
  std::filesystem::path path = std::filesystem::path(weights).lexically_normal();
  if (path.filename().empty()) path = path.parent_path();
  const bool of_run = path.has_extension() && path.parent_path().filename() == "weights";
  if (of_run) return path.parent_path().parent_path().filename().string();
  return path.has_extension() ? path.stem().string() : path.filename().string();
}

std::size_t top_k_of(const HttpRequest& request, std::size_t classes) {
  const auto given = request.parameters.find("topk");
  if (given == request.parameters.end()) return std::min<std::size_t>(5, classes);
  std::size_t number = 0;
  const char* end = given->second.data() + given->second.size();
  const auto parsed = std::from_chars(given->second.data(), end, number);
  if (parsed.ec != std::errc{} || parsed.ptr != end || number == 0) {
    throw Error({.what = "cannot use topk",
                 .expected = "a number above 0",
                 .found = fmt::format("\"{}\"", given->second.substr(0, 100))});
  }
  return std::min(number, classes);
}

HttpResponse json_response(const OrderedJson& json) {
  return {.body = json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n"};
}

// A model for regression has no label, and its numbers stand in the order of their names.
OrderedJson classification_json(const Classification& found, const std::vector<std::string>& names,
                                std::size_t most) {
  if (found.label.empty()) {
    OrderedJson numbers = OrderedJson::object();
    for (std::size_t i = 0; i < names.size(); ++i) numbers[names[i]] = found.probabilities[i];
    return {{"numbers", numbers}};
  }
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t i) { return found.probabilities[i]; });
  OrderedJson classes = OrderedJson::array();
  for (std::size_t i = 0; i < most; ++i) {
    classes.push_back({{"label", names[order[i]]}, {"probability", found.probabilities[order[i]]}});
  }
  OrderedJson json = {
      {"label", found.label}, {"probability", found.probability}, {"classes", classes}};
  if (!found.labels.empty()) json["labels"] = found.labels;
  return json;
}

}  // namespace

class ClassifyService::Impl {
 public:
  explicit Impl(const ServeOptions& options)
      : options_(options), classifier_(options.weights, options.classifier) {
    model_ = {.name = options.model.empty() ? model_name(options.weights) : options.model,
              .class_names = classifier_.class_names(),
              .input = classifier_.input()};
    server_.emplace(
        options.http,
        HttpHandlers{.at_once = [this](const HttpRequest& request) { return at_once(request); },
                     .answer = [this](const HttpRequest& request) { return answer(request); },
                     .on_response = [this](const HttpRequest& request,
                                           unsigned status) { note(request, status); }});
  }

  [[nodiscard]] std::uint16_t port() const noexcept { return server_->port(); }
  [[nodiscard]] const std::string& model() const noexcept { return model_.name; }
  [[nodiscard]] std::string description() const { return classifier_.description(); }

  void drain(std::chrono::milliseconds time) {
    ready_.store(false);
    server_->drain(time);
  }

 private:
  // ---- The server's thread ----

  [[nodiscard]] std::optional<HttpResponse> at_once(const HttpRequest& request) {
    const Route route = route_of(request, model_.name);
    // Whoever watches the server need not know the token.
    const bool is_health = route == Route::kLive || route == Route::kReady;
    if (!is_health && !is_allowed(request)) {
      HttpResponse response = error_response(401, "the token is missing or wrong");
      response.headers.emplace_back("WWW-Authenticate", "Bearer");
      return response;
    }
    if (route == Route::kNone) return error_response(404, "there is nothing at this path");
    const bool is_get = request.method == "GET" || request.method == "HEAD";
    if (takes_post(route) ? request.method != "POST" : !is_get) {
      HttpResponse response = error_response(405, "another method is needed");
      response.headers.emplace_back("Allow", takes_post(route) ? "POST" : "GET, HEAD");
      return response;
    }
    return takes_post(route) ? std::nullopt : std::optional(information(route));
  }

  [[nodiscard]] bool is_allowed(const HttpRequest& request) const {
    if (options_.token.empty()) return true;
    std::string_view given = request.header("authorization");
    constexpr std::string_view kScheme = "Bearer ";
    if (!given.starts_with(kScheme)) return false;
    given.remove_prefix(kScheme.size());
    return same_text(given, options_.token);
  }

  [[nodiscard]] HttpResponse information(Route route) const {
    switch (route) {
      case Route::kLive:
        return {.body = "{\"live\":true}\n"};
      case Route::kServer:
        return {.body = server_metadata(options_.version) + "\n"};
      case Route::kModel:
        return {.body = model_metadata(model_) + "\n"};
      case Route::kMetrics:
        return {.body = metrics_.text(classifier_.stats(), ready_.load()),
                .type = "text/plain; version=0.0.4"};
      default:
        break;
    }
    if (!ready_.load()) return error_response(503, "the server is being ended");
    return {.body = "{\"ready\":true}\n"};
  }

  void note(const HttpRequest& request, unsigned status) {
    const Route route = route_of(request, model_.name);
    metrics_.add(kRouteNames[static_cast<std::size_t>(route)], status,
                 std::chrono::duration<double>(Clock::now() - request.received).count());
  }

  // ---- Threads that answer ----

  [[nodiscard]] HttpResponse answer(const HttpRequest& request) const {
    try {
      const Clock::time_point deadline = request.received + time_limit_of(request);
      if (Clock::now() >= deadline) return error_response(504, "the deadline has passed");
      return route_of(request, model_.name) == Route::kInfer ? infer(request, deadline)
                                                             : classify(request, deadline);
    } catch (const Error& error) {
      return error_response(400, error.what());
    }
  }

  [[nodiscard]] std::chrono::milliseconds time_limit_of(const HttpRequest& request) const {
    const std::string_view given = request.header("x-timeout-ms");
    if (given.empty()) return options_.time_limit;
    std::uint32_t number = 0;
    const auto parsed = std::from_chars(given.data(), given.data() + given.size(), number);
    if (parsed.ec != std::errc{} || parsed.ptr != given.data() + given.size()) {
      throw Error({.what = "cannot use X-Timeout-Ms",
                   .expected = "a number of milliseconds",
                   .found = fmt::format("\"{}\"", given.substr(0, 100))});
    }
    return std::min(options_.time_limit, std::chrono::milliseconds(number));
  }

  [[nodiscard]] HttpResponse classify(const HttpRequest& request,
                                      Clock::time_point deadline) const {
    const std::size_t most = top_k_of(request, model_.class_names.size());
    const Classification found =
        classifier_.classify(std::as_bytes(std::span(request.body)), deadline);
    if (!found.ok()) return error_response(status_code(found.status), found.error);
    return json_response(classification_json(found, model_.class_names, most));
  }

  [[nodiscard]] HttpResponse infer(const HttpRequest& request, Clock::time_point deadline) const {
    const InferenceRequest wanted = parsed_inference(request);
    const std::vector<Classification> found = classify_all(wanted, deadline);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i].ok()) continue;
      return error_response(status_code(found[i].status),
                            fmt::format("image {}: {}", i, found[i].error));
    }
    InferenceAnswer answer = inference_answer(model_, wanted, found);
    HttpResponse response{.body = std::move(answer.body)};
    if (answer.json_bytes != 0) {
      response.type = "application/octet-stream";
      response.headers.emplace_back("Inference-Header-Content-Length",
                                    fmt::format("{}", answer.json_bytes));
    }
    return response;
  }

  // JSON takes up to thirty times its size while it is read, so few threads may do that at once.
  [[nodiscard]] InferenceRequest parsed_inference(const HttpRequest& request) const {
    struct Turn {
      explicit Turn(std::counting_semaphore<>& turns) : turns(turns) { turns.acquire(); }
      ~Turn() { turns.release(); }
      std::counting_semaphore<>& turns;
    };
    const Turn turn(readers_);
    return parse_inference(request.body, request.header("inference-header-content-length"),
                           {.input = model_.input, .max_images = options_.max_images});
  }

  // The images of one request wait at the same time, so that they share batches.
  [[nodiscard]] std::vector<Classification> classify_all(const InferenceRequest& wanted,
                                                         Clock::time_point deadline) const {
    std::vector<Classification> found(wanted.images);
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < found.size(); i = next++) {
        found[i] = classify_one(wanted, i, deadline);
      }
    };
    const std::size_t helpers =
        std::min<std::size_t>(found.size(), options_.classifier.max_batch) - 1;
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < std::min<std::size_t>(helpers, kMostHelpers); ++i) {
      threads.emplace_back(work);
    }
    work();
    return threads.clear(), found;
  }

  [[nodiscard]] Classification classify_one(const InferenceRequest& wanted, std::size_t i,
                                            Clock::time_point deadline) const {
    if (wanted.kind == InferenceKind::kEncoded) {
      return classifier_.classify(std::as_bytes(std::span(wanted.encoded[i])), deadline);
    }
    if (wanted.kind == InferenceKind::kPixels) {
      const std::size_t bytes = wanted.pixels.size() / wanted.images;
      return classifier_.classify_pixels({.data = wanted.pixels.data() + i * bytes,
                                          .height = wanted.height,
                                          .width = wanted.width,
                                          .channels = wanted.channels},
                                         deadline);
    }
    const std::size_t values = wanted.values.size() / wanted.images;
    return classifier_.classify_values(std::span(wanted.values).subspan(i * values, values),
                                       deadline);
  }

  static constexpr std::size_t kMostHelpers = 15;

  const ServeOptions options_;
  Classifier classifier_;
  InferenceModel model_;
  ServeMetrics metrics_;
  std::atomic<bool> ready_{true};
  mutable std::counting_semaphore<> readers_{2};
  std::optional<HttpServer> server_;  // the last: its threads use all of the others
};

ClassifyService::ClassifyService(const ServeOptions& options)
    : impl_(std::make_unique<Impl>(options)) {}
ClassifyService::~ClassifyService() = default;
std::uint16_t ClassifyService::port() const noexcept { return impl_->port(); }
const std::string& ClassifyService::model() const noexcept { return impl_->model(); }
std::string ClassifyService::description() const { return impl_->description(); }
void ClassifyService::drain(std::chrono::milliseconds time) { impl_->drain(time); }

std::string read_token(const std::string& path) {
  const std::string text = read_text_file(path, "cannot read the token");
  std::string token = text.substr(0, text.find('\n'));
  while (!token.empty() && (token.back() == '\r' || token.back() == ' ')) token.pop_back();
  constexpr std::size_t kShortest = 16;
  if (token.size() < kShortest) {
    throw Error({.what = "cannot use the token",
                 .path = path,
                 .expected = fmt::format("a first line of at least {} characters", kShortest),
                 .found = fmt::format("{}", token.size()),
                 .hint = "Make one: openssl rand -hex 32"});
  }
  using std::filesystem::perms;
  const perms others = std::filesystem::status(path).permissions() & (perms::others_read);
  if (others != perms::none) {
    throw Error({.what = "everybody may read the token",
                 .path = path,
                 .expected = "a file for its owner alone",
                 .hint = "Run chmod 600 on it"});
  }
  return token;
}

}  // namespace stoker
