// Checkpoints: what a run needs to go on, as safetensors files with a digest of everything in them.
//
// A folder holds step-000000001234.safetensors for each step that was saved. A file is either whole
// or was damaged after it was written; the digest tells. Only one process at a time may own a
// folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/core/error.h"
#include "stoker/io/safetensors.h"

namespace stoker {

// Adds the digest to the metadata. Throws Error where the disk refuses; an old file then stays.
void write_checkpoint(const std::filesystem::path& path, std::span<const TensorView> tensors,
                      SafetensorsMetadata metadata);
// Throws Error where the file is not a checkpoint, or any bit of its values, names, shapes or
// metadata is not what was written.
[[nodiscard]] SafetensorsFile read_checkpoint(const std::filesystem::path& path);

class CheckpointFolder {
 public:
  // Makes the folder, and removes what a killed process left unfinished. The newest `keep` files
  // stay, at least one.
  CheckpointFolder(std::filesystem::path folder, int keep);

  // Removes the oldest only once the new one is safe.
  void save(std::uint64_t step, std::span<const TensorView> tensors,
            const SafetensorsMetadata& metadata) const;

  struct Found {
    std::filesystem::path path;
    SafetensorsFile file;
  };
  // The newest whole one. Newer ones that are damaged are left as they are, with the reasons in
  // `damaged`.
  [[nodiscard]] std::optional<Found> newest(std::vector<ErrorDetails>& damaged) const;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return folder_; }
  // Sorted by step, the newest first.
  [[nodiscard]] std::vector<std::filesystem::path> files() const;

 private:
  std::filesystem::path folder_;
  int keep_;
};

// Removes temporary files of killed processes (core/atomic_file.h) from a folder that nobody else
// is writing to.
void remove_unfinished_files(const std::filesystem::path& folder);

}  // namespace stoker
