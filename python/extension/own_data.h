// Data of Python programs as sources: objects with __getitem__, and columns of Arrow tables.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "interpreter.h"
#include "stoker/data/sources/encoded_source.h"

namespace stoker::python {

// What both have in common.
struct OwnDataOptions {
  std::vector<std::string> class_names;
  std::string name = "dataset";  // in names of samples: "dataset[5]"
  FolderOptions images = {};
};

// `fetch(index)` gives (buffer, height, width, channels, label): pixels without gaps, or with
// height 0 the bytes of an image's file. Only that call holds the GIL.
[[nodiscard]] std::shared_ptr<const Source> make_map_source(std::uint64_t size,
                                                            nanobind::object fetch,
                                                            OwnDataOptions options);

// A piece of a column of binary or text values, as Arrow lays it out. Addresses are those of
// Arrow's buffers, which `owner` of the source keeps.
struct ArrowChunk {
  std::uintptr_t validity = 0;  // one bit each; 0: all are there
  std::uintptr_t offsets = 0;
  std::uintptr_t data = 0;
  std::uint64_t data_bytes = 0;
  std::uint64_t first = 0;  // of its values, in the buffers
  std::uint64_t length = 0;
  bool wide = false;  // offsets of 64 bits
};

struct ArrowColumns {
  std::vector<ArrowChunk> files;  // encoded images
  std::vector<ArrowChunk> paths;  // where a file's value is missing, its path; may be empty
  std::vector<std::int64_t> labels;
  std::vector<std::uint64_t> rows;  // of the table, in the order of the data; empty: as they are
};

[[nodiscard]] std::shared_ptr<const Source> make_arrow_source(ArrowColumns columns,
                                                              nanobind::object owner,
                                                              OwnDataOptions options);

}  // namespace stoker::python
