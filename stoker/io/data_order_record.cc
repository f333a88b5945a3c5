#include "stoker/io/data_order_record.h"

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/plain_text.h"

namespace stoker {
namespace {

constexpr const char* kOrderKey = "stoker.data_order_version";
constexpr const char* kReleaseKey = "stoker.release";
// The last release that may have written a checkpoint without a version, and that version.
constexpr const char* kUnrecordedRelease = "0.2";
constexpr const char* kUnrecordedOrder = "1";

std::string entry_or(const SafetensorsMetadata& metadata, const char* key, const char* otherwise) {
  const auto entry = metadata.find(key);
  return entry == metadata.end() ? otherwise : plain_text(entry->second, 40);
}

}  // namespace

void record_data_order(SafetensorsMetadata& metadata) {
  metadata[kOrderKey] = std::to_string(kDataOrderVersion);
  metadata[kReleaseKey] = release_version();
}

void check_data_order(const SafetensorsMetadata& metadata, const std::string& path, int here) {
  const std::string there = entry_or(metadata, kOrderKey, kUnrecordedOrder);
  if (there == std::to_string(here)) return;
  const std::string release = entry_or(metadata, kReleaseKey, kUnrecordedRelease);
  throw Error(
      {.what = "the checkpoint was made by a release with another data order",
       .path = path,
       .expected = fmt::format("data-order version {}, that of Stoker {}", here, release_version()),
       .found = fmt::format("version {}, of Stoker {}", there, release),
       .hint = fmt::format("Resume it with Stoker {}, or start a new run from its weights "
                           "(`pretrained`)",
                           release)});
}

}  // namespace stoker
