// Fields of a batch as Python objects, without a copy: each keeps the batch's memory until it goes,
// in whatever thread. A batch given to torch is dropped without the GIL and without Python.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "stoker/pipeline/batch.h"

namespace stoker::python {

// A batch that several arrays share.
class HeldBatch {
 public:
  explicit HeldBatch(Batch batch);
  // In a forked child the memory is not given back: the ring's locks belong to the parent.
  ~HeldBatch();
  HeldBatch(const HeldBatch&) = delete;
  HeldBatch& operator=(const HeldBatch&) = delete;
  [[nodiscard]] const Batch& batch() const noexcept { return *batch_; }

 private:
  std::unique_ptr<Batch> batch_;
  std::uint64_t process_;
};

// What arrays are made of the fields.
enum class ArrayKind : std::uint8_t {
  kNumpy,
  kCapsule,  // DLPack's, once, for a converter
  kDlpack,   // objects with __dlpack__
};

// How pixels are shown. Bytes lie as (row, column, channel), floats as FeedOptions say.
enum class PixelAxes : std::uint8_t {
  kAsStored,
  kChannelsFirst,  // a view with strides, where they lie the other way
};

struct ExportOptions {
  std::vector<std::string> fields = {"image", "label"};
  ArrayKind kind = ArrayKind::kNumpy;
  PixelAxes axes = PixelAxes::kAsStored;
  nanobind::object converter = {};  // called with each capsule or DLPack object; none: as it is
};

// A tuple with the fields, in their order. "name" is a list of texts.
[[nodiscard]] nanobind::object export_batch(Batch batch, const ExportOptions& options);
// Throws Error, with all names, where the batches have no such field.
void check_fields(const BatchLayout& layout, const std::vector<std::string>& fields);

}  // namespace stoker::python
