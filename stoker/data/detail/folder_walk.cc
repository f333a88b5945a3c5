#include "stoker/data/detail/folder_walk.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stoker/core/error.h"
#include "stoker/data/detail/letters.h"
#include "stoker/data/detail/unknown_file.h"

namespace stoker::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtensions =
    ".jpg, .jpeg, .png, .webp, .tif, .tiff, .bmp, .pbm, .pgm, .ppm or .pnm";

// What systems and programs leave behind, in lower case.
constexpr std::array<std::string_view, 11> kJunk = {"__macosx",
                                                    "thumbs.db",
                                                    "ehthumbs.db",
                                                    "desktop.ini",
                                                    "@eadir",
                                                    "lost+found",
                                                    "#recycle",
                                                    "icon\r",
                                                    "$recycle.bin",
                                                    "__pycache__",
                                                    "system volume information"};

// Why a name is omitted whatever it names; "" where it is not.
std::string excluded_name(std::string_view name) {
  if (name.starts_with('.')) return "hidden";
  const bool junk = std::ranges::find(kJunk, lower_case(name)) != kJunk.end();
  return junk ? fmt::format("junk ({})", name) : "";
}

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

FolderStamp stamp_from(const struct stat& status) {
  return {.inode = status.st_ino,
          .modified_ns = nanoseconds(status.st_mtim),
          .changed_ns = nanoseconds(status.st_ctim)};
}

[[noreturn]] void fail_reading(const fs::path& path, int error) {
  throw Error({.what = "cannot list the images of a folder",
               .path = path.string(),
               .found = std::generic_category().message(error),
               .hint = error == EACCES ? "Check who may read it and the folders above it."
                                       : "Check the path, and that it is a folder."});
}

// An open folder; its entries are read once.
class OpenFolder {
 public:
  explicit OpenFolder(fs::path path) : path_(std::move(path)) {
    const int descriptor = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) fail_reading(path_, errno);
    stream_ = ::fdopendir(descriptor);
    if (stream_ == nullptr) {
      const int error = errno;
      ::close(descriptor);
      fail_reading(path_, error);
    }
    if (::fstat(::dirfd(stream_), &status_) != 0) {
      const int error = errno;
      ::closedir(stream_);
      fail_reading(path_, error);
    }
  }
  ~OpenFolder() { ::closedir(stream_); }
  OpenFolder(const OpenFolder&) = delete;
  OpenFolder& operator=(const OpenFolder&) = delete;

  [[nodiscard]] FolderStamp stamp() const { return stamp_from(status_); }
  [[nodiscard]] std::pair<dev_t, ino_t> identity() const {
    return {status_.st_dev, status_.st_ino};
  }

  [[nodiscard]] int descriptor() const { return ::dirfd(stream_); }

  // Null after the last.
  [[nodiscard]] const dirent* next() {
    errno = 0;
    const dirent* entry = ::readdir(stream_);
    if (entry == nullptr && errno != 0) fail_reading(path_, errno);
    return entry;
  }

  [[nodiscard]] bool is_link(const dirent& entry) const {
    if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_LNK;
    struct stat status {};
    return ::fstatat(::dirfd(stream_), entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISLNK(status.st_mode);
  }

  // What the entry is, links followed. False where it names nothing: a link whose file is gone, or
  // a file that was deleted a moment ago.
  [[nodiscard]] bool examine(const char* name, struct stat* status) const {
    if (::fstatat(::dirfd(stream_), name, status, 0) == 0) return true;
    if (errno != ENOENT && errno != ELOOP && errno != ENOTDIR) fail_reading(path_ / name, errno);
    return false;
  }

 private:
  fs::path path_;
  DIR* stream_ = nullptr;
  struct stat status_ {};
};

// A folder's images, and the folders to go into.
struct Content {
  std::vector<ListedImage> images;   // sorted by name
  std::vector<std::string> folders;  // names, sorted
  bool empty = true;                 // no entries at all
};

class Walk {
 public:
  Walk(fs::path root, EmptyClasses empty) : empty_(empty) {
    walked_.listing.root = std::move(root);
  }

  WalkedListing run();

 private:
  using Identity = std::pair<dev_t, ino_t>;
  // A class folder, or one inside it.
  struct Visited {
    std::string path;
    std::vector<ListedImage> images;
  };

  Content read(OpenFolder& folder, const std::string& prefix);
  std::string take(const OpenFolder& folder, const dirent& entry, const std::string& prefix,
                   Content& content);
  void visit(const std::string& path, std::vector<Visited>& visited);
  void add_class(const std::string& name, std::vector<Visited> visited);
  void set_without_classes(Content content);
  void check_classes(const std::vector<std::string>& without_images) const;
  void check_visits(const std::string& path, int visits) const;
  void ignore(std::string path, std::string reason) {
    walked_.listing.ignored.push_back({std::move(path), std::move(reason)});
  }
  [[nodiscard]] const fs::path& root() const { return walked_.listing.root; }

  EmptyClasses empty_;
  WalkedListing walked_;
  std::vector<Identity> above_;  // folders between the root and here
  std::map<Identity, int> visits_;
  UnknownFiles unknown_;
};

// Puts the entry into `content`, or returns why it is omitted.
std::string Walk::take(const OpenFolder& folder, const dirent& entry, const std::string& prefix,
                       Content& content) {
  const std::string_view name = entry.d_name;
  std::string reason = excluded_name(name);
  if (!reason.empty()) return reason;
  const bool is_image = has_image_extension(name);
  // Most file systems tell files from folders and links here, which saves a look at each.
  if (entry.d_type == DT_REG && !is_image)
    return unknown_.reason(folder.descriptor(), entry.d_name);
  struct stat status {};
  if (entry.d_type == DT_DIR) {
    status.st_mode = S_IFDIR;
  } else if (!folder.examine(entry.d_name, &status)) {
    walked_.has_file_links = true;
    return "broken link";
  }
  if (S_ISDIR(status.st_mode)) {
    content.folders.emplace_back(name);
    return "";
  }
  walked_.has_file_links = walked_.has_file_links || folder.is_link(entry);
  if (!S_ISREG(status.st_mode)) return "not a file (a pipe, socket or device)";
  if (!is_image) return unknown_.reason(folder.descriptor(), entry.d_name);
  content.images.push_back({.path = prefix + entry.d_name,
                            .label = kNoClass,
                            .bytes = static_cast<std::uint64_t>(status.st_size),
                            .modified_ns = nanoseconds(status.st_mtim)});
  return "";
}

// `prefix` is the folder's path with a '/', or "" for the root.
Content Walk::read(OpenFolder& folder, const std::string& prefix) {
  Content content;
  while (const dirent* entry = folder.next()) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    content.empty = false;
    std::string reason = take(folder, *entry, prefix, content);
    if (!reason.empty()) ignore(prefix + entry->d_name, std::move(reason));
  }
  std::ranges::sort(content.images, {}, &ListedImage::path);
  std::ranges::sort(content.folders);
  return content;
}

// The ring of links is caught by the folders above; a web of links that multiplies paths without
// ever closing a ring is caught here.
void Walk::check_visits(const std::string& path, int visits) const {
  constexpr int kMostVisits = 100;
  if (visits <= kMostVisits) return;
  throw Error({.what = "symbolic links lead to the same folder again and again",
               .path = (root() / path).string(),
               .expected = fmt::format("at most {} ways to a folder", kMostVisits),
               .found = "more",
               .hint = "Remove links between the folders of the dataset."});
}

// Adds this folder and all inside it.
void Walk::visit(const std::string& path, std::vector<Visited>& visited) {
  Content content;
  {
    OpenFolder folder(root() / path);  // closed before we go deeper: descriptors are few
    const Identity identity = folder.identity();
    if (std::ranges::find(above_, identity) != above_.end()) {
      ignore(path, "link to a folder above it");
      return;
    }
    check_visits(path, ++visits_[identity]);
    walked_.folders.push_back({path, folder.stamp()});
    content = read(folder, path + "/");
    above_.push_back(identity);
  }
  const bool is_class = path.find('/') == std::string::npos;  // those are seen to by run()
  if (content.empty && !is_class) ignore(path, "empty folder");
  visited.push_back({path, std::move(content.images)});
  for (const std::string& name : content.folders) visit(fmt::format("{}/{}", path, name), visited);
  above_.pop_back();
}

void Walk::add_class(const std::string& name, std::vector<Visited> visited) {
  const auto label = static_cast<std::int32_t>(walked_.listing.class_names.size());
  walked_.listing.class_names.push_back(name);
  // Not the order of the walk: "a-b" comes before "a/b", for '-' comes before '/'.
  std::ranges::sort(visited, {}, &Visited::path);
  for (Visited& folder : visited) {
    for (ListedImage& image : folder.images) {
      image.label = label;
      walked_.listing.images.push_back(std::move(image));
    }
  }
}

void Walk::check_classes(const std::vector<std::string>& without_images) const {
  if (without_images.empty()) return;
  constexpr std::size_t kShown = 10;
  const std::size_t shown = std::min(without_images.size(), kShown);
  const std::size_t more = without_images.size() - shown;
  const auto end = without_images.begin() + static_cast<std::ptrdiff_t>(shown);
  throw Error({.what = "a class folder holds no images",
               .path = (root() / without_images.front()).string(),
               .expected = fmt::format("a file with {} in every class folder", kExtensions),
               .found = fmt::format("none in {}{}", fmt::join(without_images.begin(), end, ", "),
                                    more == 0 ? "" : fmt::format(" and {} more", more)),
               .hint = "Put images there or remove the folder; a folder whose name begins with "
                       "a dot is ignored."});
}

void Walk::set_without_classes(Content content) {
  if (content.images.empty()) {
    throw Error({.what = "no images found",
                 .path = root().string(),
                 .expected = fmt::format("files with {}, in a folder for each class", kExtensions),
                 .found = content.empty ? "an empty folder"
                                        : fmt::format("{} other files and folders",
                                                      walked_.listing.ignored.size() +
                                                          content.folders.size()),
                 .hint = "Check the path."});
  }
  for (std::string& name : content.folders) ignore(std::move(name), "folder without images");
  walked_.listing.images = std::move(content.images);
}

WalkedListing Walk::run() {
  Content content;
  {
    OpenFolder folder(root());
    above_.push_back(folder.identity());
    walked_.folders.push_back({"", folder.stamp()});
    content = read(folder, "");
  }
  std::vector<std::string> without_images;
  for (const std::string& name : content.folders) {
    std::vector<Visited> visited;
    visit(name, visited);
    const bool none = std::ranges::all_of(visited, [](auto& f) { return f.images.empty(); });
    if (none) without_images.push_back(name);
    if (!none || empty_ == EmptyClasses::kKeep) add_class(name, std::move(visited));
  }
  if (walked_.listing.images.empty()) {
    walked_.listing.class_names.clear();
    set_without_classes(std::move(content));
  } else {
    if (empty_ == EmptyClasses::kRefuse) check_classes(without_images);
    for (ListedImage& image : content.images) {
      ignore(std::move(image.path), "not in a class folder");
    }
  }
  std::ranges::sort(walked_.listing.ignored, {}, &IgnoredPath::path);
  return std::move(walked_);
}

}  // namespace

WalkedListing walk_images(const fs::path& root, EmptyClasses empty) {
  return Walk(root, empty).run();
}

std::optional<FolderStamp> stamp_of(const fs::path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return std::nullopt;
  return stamp_from(status);
}

}  // namespace stoker::detail
