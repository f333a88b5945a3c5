// Source: where labelled images lie. Position in memory, on disk or in a shard is the source's own
// business; everybody else names a sample by its index in [0, size()).
//
// Thread-safety: every member is const and may be called by any number of threads at once.
// Memory: independent of the number of samples wherever the format allows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/core/result.h"
#include "stoker/image/image.h"

namespace stoker {

struct Sample {
  ImageView image;  // valid while the source lives and until the buffer is used again
  std::int64_t label = 0;
};

// Working memory of one reader, for sources that have to decode; kept from sample to sample.
struct SampleBuffer {
  Image decoded;
};

class Source {
 public:
  virtual ~Source() = default;

  [[nodiscard]] virtual std::uint64_t size() const = 0;
  // The shape that all samples have.
  [[nodiscard]] virtual ImageShape shape() const = 0;
  // Label i means class_names()[i].
  [[nodiscard]] virtual const std::vector<std::string>& class_names() const = 0;
  // For messages: the file and the place in it.
  [[nodiscard]] virtual std::string sample_name(std::uint64_t index) const = 0;
  // A hint that this sample will be read soon: its bytes may be brought nearer meanwhile.
  virtual void prefetch(std::uint64_t index) const noexcept { static_cast<void>(index); }
  // A sample that cannot be read is an error value: the caller decides whether to go on.
  [[nodiscard]] virtual Result<Sample> read(std::uint64_t index, SampleBuffer& buffer) const = 0;
};

}  // namespace stoker
