// Lists of images as text: what `stoker split` and the doctor write, and people too. One image
// a line: its path, and after a tab its class. A relative path starts at the list's own folder.
// Lines that begin with '#' and empty lines are omitted, with one exception: a line
// "#classes<tab>first<tab>second…" before the first image gives the classes and their order, so
// that two lists of one dataset agree even where one lacks a class. Without it the classes are
// those that occur, sorted by name as for folders.
//
// Lines with commas instead of the tab are refused, and so is a comma in a class that no #classes
// line names: img.jpg,dog is no path, and dog,indoor is not one class.
//
// Either every line has a class or none has. A list without classes is for prediction.
#pragma once

#include <filesystem>
#include <memory>

#include "stoker/core/atomic_file.h"
#include "stoker/data/sources/image_folder.h"

namespace stoker {

// The images in the list's order; root is the list's folder, and paths are as they are written.
// Each file is looked at, none is opened. Throws Error (path, byte, line) where the list is no such
// text, an image comes twice, or a file is not there.
[[nodiscard]] ImageListing read_image_list(const std::filesystem::path& list);

// Written as a whole or not at all. Paths are made relative to the list's folder, so that a folder
// that holds data and lists can be moved. Throws Error for a name that a line cannot hold (with a
// tab or an end of line), and where the file cannot be written.
void write_image_list(const std::filesystem::path& list, const ImageListing& listing);
// The same, but for its commit(): for several lists that belong together.
[[nodiscard]] std::unique_ptr<AtomicFile> begin_image_list(const std::filesystem::path& list,
                                                           const ImageListing& listing);

}  // namespace stoker
