#include "stoker/pipeline/preprocessor.h"

#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"
#include "stoker/data/sources/encoded_source.h"
#include "stoker/image/convert.h"
#include "stoker/pipeline/detail/sample_maker.h"

namespace stoker {

Policy resolved_framing(const PreprocessOptions& options) {
  check_shape(options.image);
  Policy policy = Policy::parse(options.framing);
  if (policy.framing() == nullptr) {
    policy = Policy::parse(fmt::format("resize({},{})", options.image.height, options.image.width));
  }
  const FramingOperation& framing = *policy.framing();
  if (framing.output_height() != options.image.height ||
      framing.output_width() != options.image.width) {
    throw Error({.what = "the framing gives images of another size",
                 .expected = fmt::format("{} x {}", options.image.width, options.image.height),
                 .found = fmt::format("{} x {} by \"{}\"", framing.output_width(),
                                      framing.output_height(), policy.text())});
  }
  policy.check(options.image);
  return policy;
}

FolderOptions source_options(const PreprocessOptions& options) {
  return {.channels = options.image.channels,
          .limits = options.limits,
          .background = options.background,
          .depth = options.image.depth,
          .window = options.window};
}

namespace {

// Pixels are checked as the header of a file is.
void check_limits(const ImageShape& shape, const DecodeLimits& limits) {
  const bool fits = shape.width <= limits.max_side && shape.height <= limits.max_side &&
                    std::int64_t{shape.width} * shape.height <= limits.max_pixels;
  if (fits) return;
  throw Error({.what = "the image is too large",
               .expected = fmt::format("at most {} pixels, and {} a side", limits.max_pixels,
                                       limits.max_side),
               .found = fmt::format("{} x {} pixels", shape.width, shape.height)});
}

// The image of one call. Each working memory has its own, so it needs no lock.
class OneImage final : public EncodedSource {
 public:
  explicit OneImage(const PreprocessOptions& options)
      : EncodedSource(source_options(options)), options_(options) {}

  std::string name;
  ImageView pixels = {};

  [[nodiscard]] std::uint64_t size() const override { return 1; }
  [[nodiscard]] const std::vector<std::string>& class_names() const override { return classes_; }
  [[nodiscard]] std::string sample_name(std::uint64_t) const override { return name; }
  [[nodiscard]] Result<std::int64_t> label(std::uint64_t, SampleBuffer&) const override {
    return std::int64_t{-1};
  }
  // Of pixels: what has encoded bytes goes to decode() at once.
  [[nodiscard]] Result<Sample> read_framed(std::uint64_t, const FrameRequest& request,
                                           SampleBuffer& buffer) const override {
    convert_pixels(buffer.decoded, pixels,
                   {.channels = options_.image.channels,
                    .background = options_.background,
                    .depth = options_.image.depth,
                    .window = options_.window});
    auto framed = frame_image(std::as_const(buffer.decoded).view(), request, buffer);
    if (!framed) return framed.error();
    return Sample{.image = *framed, .label = -1};
  }

 private:
  const PreprocessOptions& options_;
  std::vector<std::string> classes_;
};

}  // namespace

class Preprocessor::Impl {
 public:
  explicit Impl(const PreprocessOptions& options)
      : options_(options), policy_(resolved_framing(options)) {
    if (options.pixel_type == PixelType::kU8 && options.image.depth != 8) {
      throw Error({.what = "cannot give bytes",
                   .expected = "images of 8 bits",
                   .found = fmt::format("images of {} bits", options.image.depth)});
    }
    add(take());  // whatever the options do not allow is reported now
  }

  void make(std::span<std::byte> out, std::optional<std::span<const std::byte>> file,
            const ImageView& pixels, const std::string& name) {
    STOKER_INVARIANT(out.size() == output_bytes(), "{} bytes for an image of {}", out.size(),
                     output_bytes());
    std::unique_ptr<Workplace> place = take();
    place->source.name = name;
    place->source.pixels = pixels;
    // Not given back after an error: a decoder that failed may hold much memory.
    place->maker.make({.index = 0, .epoch = 0, .pixels = out, .encoded = file});
    add(std::move(place));
  }

  [[nodiscard]] const PreprocessOptions& options() const noexcept { return options_; }
  [[nodiscard]] std::size_t output_bytes() const noexcept {
    return options_.image.values() * bytes_per_value(options_.pixel_type);
  }

 private:
  struct Workplace {
    explicit Workplace(const PreprocessOptions& options, const Policy& policy)
        : source(options),
          maker({.source = source,
                 .policy = policy,
                 .shape = options.image,
                 .pixel_type = options.pixel_type,
                 .normalisation = options.normalisation,
                 .channels_last = options.channels_last,
                 .framing = {},
                 .seed = 0,
                 .views = 1}) {}
    OneImage source;
    detail::SampleMaker maker;
  };

  [[nodiscard]] std::unique_ptr<Workplace> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<Workplace> place = std::move(free_.back());
        free_.pop_back();
        return place;
      }
    }
    return std::make_unique<Workplace>(options_, policy_);
  }
  void add(std::unique_ptr<Workplace> place) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(place));
  }

  const PreprocessOptions options_;
  const Policy policy_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Workplace>> free_;
};

Preprocessor::Preprocessor(const PreprocessOptions& options)
    : impl_(std::make_unique<Impl>(options)) {}
Preprocessor::~Preprocessor() = default;

const PreprocessOptions& Preprocessor::options() const noexcept { return impl_->options(); }
std::size_t Preprocessor::output_bytes() const noexcept { return impl_->output_bytes(); }

void Preprocessor::encoded(std::span<std::byte> out, std::span<const std::byte> file,
                           const std::string& name) const {
  impl_->make(out, file, {}, name);
}

void Preprocessor::file(std::span<std::byte> out, const std::string& path) const {
  encoded(out, read_image_file(path), path);
}

void Preprocessor::pixels(std::span<std::byte> out, const ImageView& image) const {
  check_shape(image.shape);
  check_limits(image.shape, options().limits);
  if (image.data == nullptr || image.bytes_per_row < image.shape.bytes_per_row()) {
    throw Error({.what = "the rows of the image overlap",
                 .expected = fmt::format("at least {} bytes a row", image.shape.bytes_per_row()),
                 .found = fmt::format("{}", image.bytes_per_row)});
  }
  impl_->make(out, std::nullopt, image, "the image");
}

// As a folder reads its images.
std::vector<std::byte> read_image_file(const std::string& path) {
  const FolderSource source(
      {.root = {}, .class_names = {}, .images = {{.path = path}}, .ignored = {}});
  std::vector<std::byte> bytes;
  const auto room = [&bytes](std::size_t size) -> std::span<std::byte> {
    bytes.resize(size);
    return bytes;
  };
  static_cast<void>(source.read_bytes(0, room).value());
  return bytes;
}

}  // namespace stoker
