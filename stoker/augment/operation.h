/// \file
/// An operation changes one image by chance. It is described once, by its schema; from that come
/// the parser of policies, `stoker ops`, the help and the docs.
///
/// Two kinds: a geometric operation draws a map, and neighbours in a policy are multiplied into one
/// resampling pass; a pixel operation changes the values in place (so do policies that choose by
/// chance, whatever they chose). Both draw from a generator that belongs to (seed, epoch, sample,
/// place in the policy) alone, and are immutable: any number of threads may use one, each with its
/// own scratch memory.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/core/rng.h"
#include "stoker/export.h"
#include "stoker/image/image.h"
#include "stoker/kernels/blur/blur.h"
#include "stoker/kernels/warp/affine.h"
#include "stoker/kernels/warp/warp.h"

namespace stoker {

/// One parameter of an operation.
struct ParameterSchema {
  std::string name;
  std::string meaning;  ///< one line, with the unit
  double minimum, maximum;
  std::optional<double> default_value = {};  ///< none: must be given
  bool whole = false;                        ///< only whole numbers
  /// A policy's text omits it where it has its default, as texts did before it was there.
  bool omit_default = false;
};

/// Memory of one thread, kept from image to image.
struct AugmentScratch {
  WarpScratch warp;
  BlurScratch blur;
  Image between[2];                ///< results between two resampling passes of a policy
  Image source;                    ///< what an operation reads while it writes over its image
  std::vector<std::uint8_t> rows;  ///< the same for a few rows
  Image chain;                     ///< AugMix: the chain that is being made
  std::vector<std::uint32_t> mix;  ///< AugMix: the weighted sum of chains
};

/// What a policy is made of. Derive from one of the three kinds: GeometricOperation,
/// PixelOperation, FramingOperation.
class STOKER_API Operation {
 public:
  virtual ~Operation() = default;
};

/// Moves pixels by an affine map.
class STOKER_API GeometricOperation : public Operation {
 public:
  [[nodiscard]] virtual Affine draw(Rng& rng, const ImageShape& shape) const = 0;
};

/// Changes values in place.
class STOKER_API PixelOperation : public Operation {
 public:
  /// `image` has no gaps. `per_value` is a stream apart from `rng`, for what each value gets for
  /// itself.
  virtual void apply(const MutableImageView& image, Rng& rng, const RngStream& per_value,
                     AugmentScratch& scratch) const = 0;
  /// Whether it takes wide images (of 16 bits, or with four channels); a policy that holds one
  /// which does not is refused for them.
  [[nodiscard]] virtual bool takes_wide() const { return false; }
};

/// The description of an operation, by which policies name it, check its arguments and make it.
struct OperationSchema {
  std::string name;
  std::string summary;  ///< one line
  std::vector<ParameterSchema> parameters;
  std::string example;
  /// Called with one checked value for each parameter.
  std::unique_ptr<const Operation> (*make)(std::span<const double> arguments);
  /// One number alone means the range from minus that number to it.
  bool symmetric_range = false;
};

/// "rotate(low,high)"
[[nodiscard]] STOKER_API std::string usage(const OperationSchema& schema);

/// A checked range [low, high] from which an operation draws.
struct Range {
  double low, high;
  [[nodiscard]] double draw(Rng& rng) const noexcept { return rng.uniform(low, high); }
};

/// Two parameters "low" and "high" of something measured in `unit`.
[[nodiscard]] STOKER_API std::vector<ParameterSchema> range_parameters(const std::string& meaning,
                                                                       double minimum,
                                                                       double maximum);

/// The same range and "p", the probability that the operation is done at all.
[[nodiscard]] STOKER_API std::vector<ParameterSchema> range_and_probability(
    const std::string& meaning, double minimum, double maximum);
/// "p", the probability that the operation is done at all.
[[nodiscard]] STOKER_API ParameterSchema probability_parameter(double default_value = 1);

/// Throws Error unless minimum <= value <= maximum, for the arguments of plain functions.
STOKER_API void check_argument(const char* operation, const char* meaning, double value,
                               double minimum, double maximum);

/// The middle of an image in pixel coordinates.
struct Centre {
  double x, y;
};
/// Between the four middle pixels where sides are even.
[[nodiscard]] inline Centre centre_of(const ImageShape& shape) noexcept {
  return {.x = (shape.width - 1) / 2.0, .y = (shape.height - 1) / 2.0};
}

/// Resamples `in` through `map` to an image of the same shape that does not overlap it. Maps that
/// move or mirror whole pixels copy them, which gives the same bytes as resampling.
STOKER_API void resample(const MutableImageView& out, const ImageView& in, const Affine& map,
                         WarpScratch& scratch);
/// The same over the image itself, through a copy in the scratch memory.
STOKER_API void resample_in_place(const MutableImageView& image, const Affine& map,
                                  AugmentScratch& scratch);

/// Resamples an image of the same size through `map`: what the single geometric operations do.
[[nodiscard]] STOKER_API Image warped(const ImageView& image, const Affine& map);

/// A copy of `image` without gaps, changed by `change`: plain functions of operations in place.
template <class Change>
[[nodiscard]] Image changed(const ImageView& image, Change change) {
  refuse_wide(image.shape, "the operation");
  Image out(image);
  change(out.view());
  return out;
}

}  // namespace stoker
