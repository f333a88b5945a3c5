#include "stoker/store/fetch_file.h"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/atomic_file.h"
#include "stoker/core/error.h"
#include "stoker/core/invariant.h"
#include "stoker/store/http_store.h"
#include "stoker/store/sha256.h"

namespace stoker {
namespace {

[[noreturn]] void fail_fetch(const HttpStore& store, const FetchRequest& request,
                             std::string expected, std::string found, std::string hint = {}) {
  throw Error({.what = "cannot fetch the file",
               .path = object_path(store, request.name),
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = std::move(hint)});
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code failed;
  if (!folder.empty()) std::filesystem::create_directories(folder, failed);
  if (!failed) return;
  throw Error(
      {.what = "cannot make the folder", .path = folder.string(), .found = failed.message()});
}

}  // namespace

void fetch_file(const FetchRequest& request) {
  STOKER_INVARIANT(request.sha256.size() >= 8, "{} digits of a SHA-256", request.sha256.size());
  // Published weights are often redirected; the digest says whether it is the right file.
  const HttpStore store(request.prefix, request.retry, {.follow_redirects = true});
  const auto facts = store.look(request.name);
  if (!facts) fail_fetch(store, request, "a file", "none (404)");
  if (facts->bytes > request.at_most) {
    fail_fetch(store, request, fmt::format("at most {} bytes", request.at_most),
               fmt::format("{}", facts->bytes));
  }
  make_folder(request.target.parent_path());
  AtomicFile file(request.target);
  Sha256 sha256;
  std::uint64_t done = 0;
  store.read({.name = request.name, .at_most = request.at_most, .stop = request.stop},
             [&](std::span<const std::byte> bytes) {
               file.write(bytes);
               sha256.add(bytes);
               done += bytes.size();
               if (request.progress) request.progress(done, facts->bytes);
             });
  const std::string digest = sha256.hex_digest();
  if (!digest.starts_with(request.sha256)) {
    fail_fetch(store, request, fmt::format("a SHA-256 that begins with {}", request.sha256), digest,
               "No file was written. Somebody else's file, or a damaged one, is at this address");
  }
  file.commit();
}

}  // namespace stoker
