// The samples that a model is most wrong about, as an image: each as the network saw it and, for
// networks of convolutions, where it looked.
#pragma once

#include <filesystem>
#include <vector>

#include "stoker/cli/model_flags.h"
#include "stoker/train/evaluate.h"

namespace stoker {

class TopLosses {
 public:
  explicit TopLosses(std::size_t count) : count_(count) {}

  // Of samples that have a class.
  void add(const Predictions& predictions);
  // Throws Error where no sample had a class.
  void write(const std::filesystem::path& path, const ModelAndData& opened) const;

  struct Entry {
    std::uint64_t index = 0;
    std::size_t label = 0, predicted = 0;
    float probability = 0;  // of what was predicted
    float loss = 0;
  };
  // The largest loss first; of equal ones the first sample.
  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }

 private:
  std::size_t count_;
  std::vector<Entry> entries_;
};

}  // namespace stoker
