// libFuzzer target: any bytes are no cached listing, or one that keeps its promises and is the same
// after being written again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "stoker/data/detail/listing_file.h"

namespace {

using stoker::detail::encode_listing;
using stoker::detail::frame_listing;
using stoker::detail::parse_listing;
using stoker::detail::WalkedListing;

void require(bool promise) {
  if (!promise) std::abort();
}

void check_bytes(std::span<const std::byte> bytes) {
  const auto walked = parse_listing(bytes);
  if (!walked) return;
  const auto classes = static_cast<std::int32_t>(walked->listing.class_names.size());
  for (const stoker::ListedImage& image : walked->listing.images) {
    require(classes == 0 ? image.label == stoker::kNoClass : image.label >= 0);
    require(image.label < std::max(classes, 1));
    require(!image.path.empty() && image.path.front() != '/');
    require(("/" + image.path + "/").find("/../") == std::string::npos);
  }
  require(std::ranges::equal(encode_listing(*walked), bytes));
}

// A listing of the fuzzer's making, since bytes alone rarely make a whole one: three bytes an
// image.
void check_built(std::span<const std::byte> bytes) {
  WalkedListing walked;
  walked.listing.root = "/root";
  walked.listing.class_names = {"a", "b", "c"};
  for (; bytes.size() >= 3; bytes = bytes.subspan(3)) {
    const std::string name(std::to_integer<std::size_t>(bytes[0]), 'x');
    walked.listing.images.push_back(
        {.path = "a/" + name, .label = std::to_integer<std::int32_t>(bytes[1]) % 3});
    if (bytes[2] == std::byte{0}) walked.folders.push_back({name, {.inode = 1}});
    if (bytes[2] == std::byte{1}) walked.listing.ignored.push_back({name, "hidden"});
  }
  const auto encoded = encode_listing(walked);
  require(parse_listing(encoded).has_value());
  check_bytes(encoded);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  check_bytes(bytes);
  check_bytes(frame_listing(bytes));  // past the digest
  check_built(bytes);
  return 0;
}
