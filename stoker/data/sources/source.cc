#include "stoker/data/sources/source.h"

#include "stoker/core/invariant.h"
#include "stoker/data/detail/frame_sample.h"

namespace stoker {

Sample detail::frame_sample(const Sample& sample, const FrameRequest& request,
                            SampleBuffer& buffer) {
  if (request.framing == nullptr) return sample;
  const ImageView& image = sample.image;
  Rng rng = Policy::framing_rng(request.key);
  const Frame frame = request.framing->draw(rng, image.shape.width, image.shape.height);
  const Region& r = frame.region;
  buffer.framed.reshape(
      {frame.cut.height, frame.cut.width, image.shape.channels, image.shape.depth});
  apply_frame(buffer.framed.view(), image,
              {1.0 * r.left, 1.0 * r.top, 1.0 * (r.left + r.width), 1.0 * (r.top + r.height)},
              frame, request.options, buffer.framing);
  return {.image = std::as_const(buffer.framed).view(), .label = sample.label};
}

Result<std::int64_t> Source::label(std::uint64_t index, SampleBuffer& buffer) const {
  auto sample = read(index, buffer);
  if (!sample) return sample.error();
  return sample->label;
}

Result<std::size_t> Source::read_fields(std::uint64_t, std::span<float> out) const {
  STOKER_INVARIANT(out.empty(), "a source with fields must write them");
  return out.size();
}

Result<Sample> Source::read_framed(std::uint64_t index, const FrameRequest& request,
                                   SampleBuffer& buffer) const {
  auto sample = read(index, buffer);
  if (!sample) return sample;
  return detail::frame_sample(*sample, request, buffer);
}

Result<std::span<const std::byte>> Source::read_bytes(std::uint64_t, const MakeRoom&) const {
  return std::span<const std::byte>();
}

Result<Sample> Source::decode(std::uint64_t index, std::span<const std::byte>,
                              const FrameRequest& request, SampleBuffer& buffer) const {
  return read_framed(index, request, buffer);
}

ImageShape sample_shape(const Source& source, const Policy& policy) {
  const FramingOperation* framing = policy.framing();
  const ImageShape shape = framing == nullptr
                               ? source.shape()
                               : ImageShape{framing->output_height(), framing->output_width(),
                                            source.channels(), source.depth()};
  policy.check(shape);
  return shape;
}

}  // namespace stoker
