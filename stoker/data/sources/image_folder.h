/// \file
/// What images a folder holds, by torchvision's ImageFolder rules: the class is the name of the
/// first-level folder, classes are sorted by name, and images inside lie at any depth. Natural
/// mistakes are caught: hidden and junk files and folders are omitted and listed.
///
/// A listing is a plain value. Listing costs one directory walk and a look at each image's size;
/// no image is opened, of other files a few whose extension is not known. Names are bytes: they
/// need not be UTF-8.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/export.h"

namespace stoker {

/// The label of an image without a class.
inline constexpr std::int32_t kNoClass = -1;

/// One image of a listing.
struct ListedImage {
  std::string path;               ///< relative to the root, with '/'
  std::int32_t label = kNoClass;  ///< place in class_names
  std::uint64_t bytes = 0;        ///< size of the file
  std::int64_t modified_ns = 0;   ///< for the cache: a changed file is seen
};

/// Omitted from the listing, with the reason: "hidden", "junk (Thumbs.db)", "not an image (.txt)",
/// "unsupported image (.tif)", "empty folder", … See ignored_files.h.
struct IgnoredPath {
  std::string path;
  std::string reason;
};

/// The images of a folder, with their classes.
struct ImageListing {
  std::filesystem::path root;
  std::vector<std::string> class_names;  ///< empty: a folder without classes, for prediction
  std::vector<ListedImage> images;       ///< by class, then by folder, then by name
  std::vector<IgnoredPath> ignored;      ///< sorted by path
};

/// .jpg, .jpeg, .png or .webp, in letters of any case.
[[nodiscard]] STOKER_API bool has_image_extension(std::string_view name);

/// A class folder without images is an Error, because leaving it out would renumber the classes
/// behind it; or it stays as a class without samples, for who wants to report it.
enum class EmptyClasses : std::uint8_t { kRefuse, kKeep };

/// The images of one split's folder. Where there are images but no class folders, the listing
/// has no classes. Throws Error where the folder, or one inside it, cannot be read, or holds no
/// images.
///
/// The order is torchvision's: names are compared byte by byte (for UTF-8 that is by code point),
/// folders by their whole path, and a folder's own images come before those of folders in it.
/// Symbolic links are followed; a link to a folder above itself is omitted.
///
/// Where no folder holds an image and the root does, there are no classes and the folders are left
/// out.
[[nodiscard]] STOKER_API ImageListing list_images(const std::filesystem::path& root,
                                                  EmptyClasses empty = EmptyClasses::kRefuse);

/// The folders of the parts of a dataset. A root that has train/ (and val|valid|validation/,
/// test/) has parts; any other root is all of it, as `train`. Upper case counts as lower. A lone
/// train/ that holds no folders is a class of that name (trains, beside cars and ships). Throws
/// Error where two folders could be the same part.
struct DatasetFolders {
  std::filesystem::path train, validation, test;  ///< empty where there is none
};
/// Looks at names of folders alone.
[[nodiscard]] STOKER_API DatasetFolders find_parts(const std::filesystem::path& root);

}  // namespace stoker
