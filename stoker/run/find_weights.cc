#include "stoker/run/find_weights.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/nn/networks/pretrained.h"
#include "stoker/store/aws.h"
#include "stoker/store/fetch_file.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

// A variable that is set to nothing counts as not set.
std::string variable(const WeightsSearch& search, const char* name) {
  return search.environment(name).value_or("");
}

const PublishedWeights* find_by_name(const std::string& name) {
  const auto all = published_weights();
  auto found = std::ranges::find(all, name, &PublishedWeights::file);
  // Of several of a network, the first.
  if (found == all.end()) found = std::ranges::find(all, name, &PublishedWeights::architecture);
  return found == all.end() ? nullptr : &*found;
}

// "f37072fd" of "resnet18-f37072fd.pth".
std::string digits_of(const PublishedWeights& published) {
  const std::string_view file = published.file;
  const std::size_t dash = file.rfind('-'), dot = file.rfind('.');
  return std::string(file.substr(dash + 1, dot - dash - 1));
}

// A mirror of torchvision's files may have them instead.
std::string address(const WeightsSearch& search) {
  std::string given = variable(search, "STOKER_WEIGHTS_URL");
  while (given.ends_with('/')) given.pop_back();
  return given.empty() ? kPublishedAddress : given;
}

void check_digits(const fs::path& path, const PublishedWeights& published) {
  const std::string digest = sha256_hex_of_file(path);
  if (digest.starts_with(digits_of(published))) return;
  throw Error({.what = "the weights are not those that were published",
               .path = path.string(),
               .expected = fmt::format("a SHA-256 that begins with {}", digits_of(published)),
               .found = digest,
               .hint = "The file is damaged: remove it and get it again. To use it as it is, give "
                       "its path"});
}

[[noreturn]] void fail_missing(const PublishedWeights& published, const WeightsSearch& search,
                               const std::vector<fs::path>& folders) {
  std::vector<std::string> places;
  for (const fs::path& folder : folders) places.push_back(folder.string());
  throw Error(
      {.what = fmt::format("the weights of {} are not on this machine", published.architecture),
       .path = std::string(published.file),
       .expected = fmt::format("the file in {}", fmt::join(places, " or ")),
       .found = "none",
       .hint = fmt::format("Nothing is downloaded without `download`. It is published as "
                           "{}/{}; its SHA-256 begins with {}",
                           address(search), published.file, digits_of(published))});
}

}  // namespace

std::vector<fs::path> weights_folders(const WeightsSearch& search) {
  std::vector<fs::path> folders;
  const std::string own =
      search.folder.empty() ? variable(search, "STOKER_WEIGHTS") : search.folder;
  if (!own.empty()) folders.emplace_back(own);
  const std::string torch = variable(search, "TORCH_HOME");
  const fs::path cache = user_cache_folder(search.environment);
  if (!torch.empty()) {
    folders.push_back(fs::path(torch) / "hub" / "checkpoints");
  } else if (!cache.empty()) {
    folders.push_back(cache / "torch" / "hub" / "checkpoints");
  }
  return folders;
}

std::optional<fs::path> find_published(const std::string& name, const WeightsSearch& search) {
  if (name.find('/') != std::string::npos || fs::exists(name)) return std::nullopt;
  const PublishedWeights* published = find_by_name(name);
  if (published == nullptr) return std::nullopt;
  const std::vector<fs::path> folders = weights_folders(search);
  for (const fs::path& folder : folders) {
    fs::path path = folder / published->file;
    if (!fs::exists(path)) continue;
    check_digits(path, *published);
    return path;
  }
  if (!search.download) fail_missing(*published, search, folders);
  if (folders.empty()) {
    throw Error({.what = "no folder to download weights into",
                 .expected = "`weights_dir`, or the variable STOKER_WEIGHTS or HOME",
                 .found = "none of them"});
  }
  fs::path target = folders.front() / published->file;
  const std::string file(published->file);
  FetchRequest request{.prefix = address(search),
                       .name = file,
                       .target = target,
                       .sha256 = digits_of(*published),
                       .retry = search.retry};
  if (search.progress) {
    request.progress = [&](std::uint64_t done, std::uint64_t total) {
      search.progress(file, done, total);
    };
  }
  fetch_file(request);
  return target;
}

}  // namespace stoker
