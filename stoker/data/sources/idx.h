// IDX, the format of MNIST and its relatives: a big-endian header (magic, then 4 bytes per
// dimension) and unsigned bytes. Plain files are read into memory once, or, where they are large,
// sample by sample when one is asked for; gzip files, known by their first bytes, are unpacked into
// memory of exactly the length that the header states. A file that is changed or shortened while
// it is in use is an error that names it.
//
// Every length is checked before memory is taken. All types are immutable once made, so any number
// of threads may read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/core/result.h"
#include "stoker/data/sources/source.h"
#include "stoker/image/image.h"

namespace stoker {

class InputFile;

enum class IdxKind : std::uint8_t {
  kLabels,  // 0x00000801: n
  kImages,  // 0x00000803: n, height, width; 0x00000804: n, height, width, 3
};

struct IdxHeader {
  IdxKind kind = IdxKind::kLabels;
  std::uint64_t count = 0;
  ImageShape shape = {1, 1, 1};   // of one sample; a label is a single value
  std::size_t header_bytes = 0;   // values start here
  std::uint64_t value_bytes = 0;  // count * shape.bytes(), known not to overflow
};

struct IdxLimits {
  // Unpacked values of one gzip file, which have to lie in memory. Plain files have no limit.
  std::uint64_t max_bytes = std::uint64_t{16} << 30;
  // Plain images above this, or above an eighth of the memory that the process may use, stay in
  // their file.
  std::uint64_t max_in_memory = std::uint64_t{1} << 30;
};

// One IDX file's content. A cheap value: copies share the memory.
struct IdxArray {
  std::string name;  // the file's path, for messages
  IdxHeader header;
  std::span<const std::uint8_t> values;   // exactly header.value_bytes; none where `file` is set
  std::shared_ptr<const void> memory;     // keeps `values` alive; null where the caller does
  std::shared_ptr<const InputFile> file;  // has the values of a large array
};

// Reads IDX from memory, plain or gzip. Values of plain data are a view of `bytes`, which must then
// outlive the result. Throws Error (path, offset, expected, found) for anything else than one whole
// array: wrong magic, sides outside [1, kMaxSide], too few or too many bytes, a failed checksum.
// Several gzip members in a row count as one stream, as gunzip has it.
[[nodiscard]] IdxArray parse_idx(std::span<const std::byte> bytes, std::string name,
                                 const IdxLimits& limits = {});

// The same for a file, all of it in memory; the result owns what it needs.
[[nodiscard]] IdxArray read_idx(const std::filesystem::path& path, const IdxLimits& limits = {});

// digest64() of the values. Takes memory for all of those that are in a file; throws Error where
// they cannot be read.
[[nodiscard]] std::uint64_t digest_of_values(const IdxArray& array);

// "0", "1", … up to and including the largest label.
[[nodiscard]] std::vector<std::string> numbered_class_names(const IdxArray& labels);

class IdxSource final : public Source {
 public:
  // Throws Error unless these are images and as many labels, at least one, each label below
  // class_names.size(). Without class names the labels' numbers are used.
  IdxSource(IdxArray images, IdxArray labels, std::vector<std::string> class_names = {});

  [[nodiscard]] std::uint64_t size() const override { return images_.header.count; }
  [[nodiscard]] ImageShape shape() const override { return images_.header.shape; }
  [[nodiscard]] const std::vector<std::string>& class_names() const override {
    return class_names_;
  }
  [[nodiscard]] std::string sample_name(std::uint64_t index) const override;  // "<images path>#<i>"
  void prefetch(std::uint64_t index) const noexcept override;
  // The image is a view of the array's memory, or in the buffer where the array stays in its file.
  // index < size().
  [[nodiscard]] Result<Sample> read(std::uint64_t index, SampleBuffer& buffer) const override;
  // The pixels, where the array stays in its file: a worker process has no files.
  [[nodiscard]] Result<std::span<const std::byte>> read_bytes(std::uint64_t index,
                                                              const MakeRoom& room) const override;
  [[nodiscard]] Result<Sample> decode(std::uint64_t index, std::span<const std::byte> bytes,
                                      const FrameRequest& request,
                                      SampleBuffer& buffer) const override;
  [[nodiscard]] const IdxArray& images() const noexcept { return images_; }
  [[nodiscard]] const IdxArray& labels() const noexcept { return labels_; }

 private:
  [[nodiscard]] Sample sample_of(std::uint64_t index, const std::uint8_t* pixels) const;

  IdxArray images_, labels_;
  std::vector<std::string> class_names_;
};

[[nodiscard]] std::shared_ptr<const IdxSource> open_idx(const std::filesystem::path& images_path,
                                                        const std::filesystem::path& labels_path,
                                                        std::vector<std::string> class_names = {},
                                                        const IdxLimits& limits = {});

}  // namespace stoker
