#include "stoker/data/detail/listing_file.h"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "stoker/core/digest.h"
#include "stoker/core/error.h"

namespace stoker::detail {
namespace {

// The last byte is the version. It changes with the rules of the walk too, not only with the
// layout: an old cache would keep the old rules alive.
constexpr std::string_view kMagic("stkList\x04", 8);
constexpr std::size_t kDigestBytes = 32;
static_assert(kListingHeaderBytes == kMagic.size() + sizeof(std::uint64_t) + kDigestBytes);

class Writer {
 public:
  template <std::integral T>
  void number(T value) {  // little-endian
    const auto bits = static_cast<std::make_unsigned_t<T>>(value);
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bytes_.push_back(static_cast<std::byte>(bits >> (8 * i)));
    }
  }
  void text(std::string_view text) {
    number(static_cast<std::uint32_t>(text.size()));
    raw(std::as_bytes(std::span(text)));
  }
  void raw(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// After the first failure everything read is 0 or empty, and failed() says so at the end.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <std::integral T>
  T number() {
    std::make_unsigned_t<T> bits = 0;
    const auto bytes = raw(sizeof(T));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bits |= static_cast<std::make_unsigned_t<T>>(
          std::to_integer<std::make_unsigned_t<T>>(bytes[i]) << (8 * i));
    }
    return static_cast<T>(bits);
  }
  std::string text() {
    const auto bytes = raw(number<std::uint32_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  // How many things follow, each of at least `smallest` bytes.
  std::size_t count(std::size_t smallest) {
    const auto count = number<std::uint64_t>();
    if (count > rest_.size() / smallest) fail();
    return failed_ ? 0 : static_cast<std::size_t>(count);
  }
  std::span<const std::byte> raw(std::size_t size) {
    if (size > rest_.size()) fail();
    if (failed_) return {};
    const auto bytes = rest_.first(size);
    rest_ = rest_.subspan(size);
    return bytes;
  }
  void require(bool condition) {
    if (!condition) fail();
  }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::span<const std::byte> rest() const { return rest_; }

 private:
  void fail() {
    failed_ = true;
    rest_ = {};
  }

  std::span<const std::byte> rest_;
  bool failed_ = false;
};

// Relative, and without a step upwards.
bool stays_inside(std::string_view path) {
  if (path.starts_with('/') || path.find('\0') != std::string_view::npos) return false;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (path.substr(0, end) == "..") return false;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return true;
}

void write_images(Writer& out, const std::vector<ListedImage>& images) {
  out.number(std::uint64_t{images.size()});
  for (const ListedImage& image : images) {
    out.text(image.path);
    out.number(image.label);
    out.number(image.bytes);
    out.number(image.modified_ns);
  }
}

void read_images(Reader& in, ImageListing& listing) {
  const std::size_t count = in.count(24);
  listing.images.reserve(count);
  for (std::size_t i = 0; i < count && !in.failed(); ++i) {
    ListedImage image;
    image.path = in.text();
    image.label = in.number<std::int32_t>();
    image.bytes = in.number<std::uint64_t>();
    image.modified_ns = in.number<std::int64_t>();
    const auto classes = static_cast<std::int64_t>(listing.class_names.size());
    in.require(classes == 0 ? image.label == kNoClass : image.label >= 0 && image.label < classes);
    in.require(!image.path.empty() && stays_inside(image.path));
    listing.images.push_back(std::move(image));
  }
}

void write_folders(Writer& out, const std::vector<WalkedFolder>& folders) {
  out.number(std::uint64_t{folders.size()});
  for (const WalkedFolder& folder : folders) {
    out.text(folder.path);
    out.number(folder.stamp.inode);
    out.number(folder.stamp.modified_ns);
    out.number(folder.stamp.changed_ns);
  }
}

void read_folders(Reader& in, std::vector<WalkedFolder>& folders) {
  const std::size_t count = in.count(28);
  folders.reserve(count);
  for (std::size_t i = 0; i < count && !in.failed(); ++i) {
    WalkedFolder folder;
    folder.path = in.text();
    folder.stamp.inode = in.number<std::uint64_t>();
    folder.stamp.modified_ns = in.number<std::int64_t>();
    folder.stamp.changed_ns = in.number<std::int64_t>();
    in.require(stays_inside(folder.path));
    folders.push_back(std::move(folder));
  }
}

std::optional<WalkedListing> parse_payload(std::span<const std::byte> payload) {
  Reader in(payload);
  WalkedListing walked;
  walked.listing.root = in.text();
  for (std::size_t left = in.count(4); left > 0 && !in.failed(); --left) {
    walked.listing.class_names.push_back(in.text());
  }
  read_folders(in, walked.folders);
  read_images(in, walked.listing);
  for (std::size_t left = in.count(8); left > 0 && !in.failed(); --left) {
    std::string path = in.text();
    walked.listing.ignored.push_back({std::move(path), in.text()});
  }
  if (in.failed() || !in.rest().empty()) return std::nullopt;
  return walked;
}

}  // namespace

std::vector<std::byte> frame_listing(std::span<const std::byte> payload) {
  Writer out;
  out.raw(std::as_bytes(std::span(kMagic)));
  out.number(std::uint64_t{payload.size()});
  const std::string digest = digest_of(payload);
  out.raw(std::as_bytes(std::span(digest)));
  out.raw(payload);
  return out.take();
}

std::vector<std::byte> encode_listing(const WalkedListing& walked) {
  Writer out;
  out.text(walked.listing.root.native());
  out.number(std::uint64_t{walked.listing.class_names.size()});
  for (const std::string& name : walked.listing.class_names) out.text(name);
  write_folders(out, walked.folders);
  write_images(out, walked.listing.images);
  out.number(std::uint64_t{walked.listing.ignored.size()});
  for (const IgnoredPath& ignored : walked.listing.ignored) {
    out.text(ignored.path);
    out.text(ignored.reason);
  }
  return frame_listing(out.take());
}

std::optional<WalkedListing> parse_listing(std::span<const std::byte> bytes) {
  Reader in(bytes);
  const auto magic = in.raw(kMagic.size());
  const auto length = in.number<std::uint64_t>();
  const auto digest = in.raw(kDigestBytes);
  if (in.failed() || length != in.rest().size()) return std::nullopt;
  const auto as_text = [](std::span<const std::byte> part) {
    return std::string_view(reinterpret_cast<const char*>(part.data()), part.size());
  };
  if (as_text(magic) != kMagic || as_text(digest) != digest_of(in.rest())) return std::nullopt;
  return parse_payload(in.rest());
}

}  // namespace stoker::detail
