// Which of a file's tensors a network can take: what fits, what is missing, what is left over. Says
// it, decides nothing and copies no values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/io/safetensors.h"

namespace stoker {

// A tensor of the network.
struct WantedTensor {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;
};

struct WeightsFit {
  struct Pair {
    std::size_t wanted = 0, found = 0;  // places in the two lists
  };
  struct Other {
    std::string name;
    std::string wanted, found;  // "F32 (64, 3, 7, 7)"
  };

  // Same name and shape, and the same type or both floating point, to be converted.
  std::vector<Pair> fitting;
  std::vector<std::string> converted;   // of those, with another type
  std::vector<std::string> missing;     // wanted, and not in the file
  std::vector<std::string> unexpected;  // in the file, and not wanted
  std::vector<Other> different;         // another shape, or a type that does not convert
  // Of the head, which does not fit as a whole: a new one takes its place. Not an error.
  std::vector<std::string> replaced;
  // Counters that only training with another kind of batch norm uses, where not wanted.
  std::size_t ignored = 0;

  // Every tensor of the network has its values or is replaced, and none of the file is left over.
  [[nodiscard]] bool complete() const noexcept {
    return missing.empty() && unexpected.empty() && different.empty();
  }
  // A line for what fits, and one for each kind of difference: its number and the first names.
  [[nodiscard]] std::string text() const;
};

// `head` names the last layer, e.g. "fc" for fc.weight and fc.bias; "": there is none to replace.
// Names are compared as they are (strip_common_prefix comes before) and come once in each list.
[[nodiscard]] WeightsFit fit_weights(std::span<const WantedTensor> wanted,
                                     std::span<const TensorView> found, std::string_view head = "");

}  // namespace stoker
