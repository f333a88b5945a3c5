/// \file
/// Framing: which part of an image becomes a sample, and of which size. It stands at the front of
/// a policy for images that differ in size, and is drawn before an image is decoded, so that
/// only what is needed of it has to be.
#pragma once

#include "stoker/augment/operation.h"
#include "stoker/export.h"
#include "stoker/image/decode.h"
#include "stoker/kernels/resize/resize.h"

namespace stoker {

/// What a framing draws for one image.
struct Frame {
  Region region;              ///< of the image: what is needed of it
  int width = 0, height = 0;  ///< to which the region is resized
  Region cut;                 ///< of the resized image: the sample
  ResizeFilter filter = ResizeFilter::kBilinear;
};

/// Chooses the part of an image that becomes the sample, and the size of the sample. Derive from it
/// to register an operation of this kind; it must be the first of a policy.
class STOKER_API FramingOperation : public Operation {
 public:
  /// For an image of this size, at least one pixel each way. The same size always comes out.
  [[nodiscard]] virtual Frame draw(Rng& rng, int width, int height) const = 0;
  /// Of the sample; channels are the source's.
  [[nodiscard]] virtual int output_width() const = 0;
  [[nodiscard]] virtual int output_height() const = 0;
};

/// How frames are resized.
struct FramingOptions {
  Antialias antialias = Antialias::kOn;
  /// Off: a JPEG may be decoded at a half, a quarter or an eighth where the region is that much
  /// larger than the sample.
  bool exact_decode = true;
  bool operator==(const FramingOptions&) const = default;
};

/// Memory of one thread, kept from image to image.
struct FramingScratch {
  ResizeScratch resize;
  Image resized;  ///< where the sample is cut from
};

/// Resizes `box` of `in`, which shows the frame's region, and cuts the sample into `out`.
STOKER_API void apply_frame(const MutableImageView& out, const ImageView& in, const ResizeBox& box,
                            const Frame& frame, const FramingOptions& options,
                            FramingScratch& scratch);

}  // namespace stoker
