/// \file
/// Policy: a list of operations, written as text: "rotate(-15,15),shift(-2,2),noise(0.1)", or the
/// name of a preset. Immutable: any number of threads may apply one, each with its own scratch
/// memory.
///
/// Neighbouring geometric operations become one map and one resampling pass: faster than one
/// pass each, sharper, and nothing is cut off in between.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/augment/framing.h"
#include "stoker/augment/operation.h"
#include "stoker/export.h"

namespace stoker {

/// A list of operations, applied to one image after another.
class Policy {
 public:
  Policy() = default;  ///< changes nothing

  /// A preset's name or a list of operations; an Error says at which character it went wrong.
  [[nodiscard]] STOKER_API static Policy parse(std::string_view text);

  /// The list in its full form, which parse() reads back.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// Whether apply() changes nothing.
  [[nodiscard]] bool empty() const noexcept { return steps_.empty(); }

  /// What the policy begins with where it is for images that differ in size; else null.
  [[nodiscard]] const FramingOperation* framing() const noexcept { return framing_.get(); }
  /// Of the generator that the framing draws from; its place in the policy is the first.
  [[nodiscard]] static Rng framing_rng(const SampleKey& key) noexcept { return {key, 0}; }

  /// Throws Error where an operation does not take images of this shape, which only wide ones may
  /// cause.
  STOKER_API void check(const ImageShape& shape) const;

  /// All but the framing, which comes before. Writes the augmented `in` to `out`: same shape, no
  /// gaps, no overlap.
  STOKER_API void apply(const MutableImageView& out, const ImageView& in, const SampleKey& key,
                        AugmentScratch& scratch) const;
  [[nodiscard]] STOKER_API Image apply(const ImageView& in, const SampleKey& key) const;

 private:
  /// Operations [begin, end) done in one pass: several geometric ones, or one pixel operation.
  struct Step {
    std::uint16_t begin, end;
    bool geometric;
  };
  void append(std::shared_ptr<const Operation> operation, std::string text);
  [[nodiscard]] Affine draw_map(const Step& step, const SampleKey& key,
                                const ImageShape& shape) const;

  std::string text_;
  std::shared_ptr<const FramingOperation> framing_;
  std::vector<std::shared_ptr<const Operation>> operations_;  ///< the framing among them
  std::vector<Step> steps_;
  int warps_ = 0;            ///< geometric steps
  std::string narrow_ = {};  ///< the first operation that takes no wide images
};

}  // namespace stoker
