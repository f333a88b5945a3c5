#include "stoker/data/sources/listing_cache.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "stoker/core/atomic_file.h"
#include "stoker/core/digest.h"
#include "stoker/core/environment.h"
#include "stoker/core/error.h"
#include "stoker/core/input_file.h"
#include "stoker/data/detail/folder_walk.h"
#include "stoker/data/detail/listing_file.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using detail::WalkedListing;

std::optional<WalkedListing> load(const fs::path& file) {
  try {
    return detail::parse_listing(FileBytes(file).bytes());
  } catch (const Error&) {  // mostly: there is none yet
    return std::nullopt;
  }
}

bool is_fresh(const WalkedListing& walked, const fs::path& root) {
  return !walked.folders.empty() && std::ranges::all_of(walked.folders, [&](const auto& folder) {
    return detail::stamp_of(root / folder.path) == folder.stamp;
  });
}

// Clocks of file systems tick every few milliseconds; those of some old or far ones every second
// or two.
bool has_settled(const WalkedListing& walked, std::chrono::system_clock::time_point now) {
  const auto since_epoch = (now - std::chrono::seconds(2)).time_since_epoch();
  const auto latest = std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count();
  return std::ranges::all_of(walked.folders, [&](const auto& folder) {
    return folder.stamp.modified_ns < latest && folder.stamp.changed_ns < latest;
  });
}

void store(const fs::path& file, const WalkedListing& walked) {
  std::error_code ignored;
  fs::create_directories(file.parent_path(), ignored);
  try {
    AtomicFile out(file, "listing");
    out.write(detail::encode_listing(walked));
    out.commit();
  } catch (const Error&) {  // the listing is whole without it
  }
}

}  // namespace

fs::path listing_cache_folder(const Environment& environment) {
  const fs::path cache = user_cache_folder(environment);
  return cache.empty() ? cache : cache / "stoker" / "listings";
}

ImageListing list_images_cached(const fs::path& root, const fs::path& cache_folder,
                                std::chrono::system_clock::time_point now) {
  if (cache_folder.empty()) return list_images(root);
  fs::path whole = fs::absolute(root).lexically_normal();
  if (!whole.has_filename() && whole.has_relative_path()) whole = whole.parent_path();
  Digest digest;
  digest.add_text(whole.native());
  const fs::path file = cache_folder / digest.hex();
  auto walked = load(file);
  if (!walked || walked->listing.root != whole || !is_fresh(*walked, whole)) {
    walked = detail::walk_images(whole);
    if (has_settled(*walked, now) && !walked->has_file_links) store(file, *walked);
  }
  walked->listing.root = root;  // as the caller named it
  return std::move(walked->listing);
}

}  // namespace stoker
