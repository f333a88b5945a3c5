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

#include "stoker/data/sources/field_rows.h"
#include "stoker/export.h"

namespace stoker {

/// The label of an image without a class.
inline constexpr std::int32_t kNoClass = -1;

/// One image of a listing.
struct ListedImage {
  std::string path;               ///< relative to the root, with '/'
  std::int32_t label = kNoClass;  ///< place in class_names
  std::uint32_t line = 0;         ///< of the table that names it; 0: none does
  std::uint64_t bytes = 0;        ///< size of the file; 0 where a table names it: see file_sizes.h
  std::int64_t modified_ns = 0;   ///< for the cache: a changed file is seen
};

/// Omitted from the listing, with the reason: "hidden", "junk (Thumbs.db)", "not an image (.txt)",
/// "unsupported image (.gif)", "empty folder", … See ignored_files.h.
struct IgnoredPath {
  std::string path;
  std::string reason;
};

/// The images of a folder, a list or a table, with their classes.
struct ImageListing {
  std::filesystem::path root;
  std::vector<std::string> class_names;  ///< empty: a folder without classes, for prediction
  std::vector<ListedImage> images;       ///< by class, then by folder, then by name
  std::vector<IgnoredPath> ignored;      ///< sorted by path
  std::filesystem::path table = {};      ///< that names the images; empty: none does
  FieldRows fields = {};                 ///< further numbers of each image, of a table
};

/// Root, classes and fields of a listing, for a part of its images.
[[nodiscard]] STOKER_API ImageListing without_images(const ImageListing& whole);
/// Adds an image of the whole to such a part, with its numbers.
STOKER_API void add_image(ImageListing& part, const ImageListing& whole, std::size_t place);

/// .jpg, .jpeg, .png, .webp, .tif, .tiff, .bmp, .pbm, .pgm, .ppm or .pnm, in letters of any case.
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
