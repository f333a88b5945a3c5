#include "stoker/run/run_images.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/atomic_file.h"
#include "stoker/image/png.h"
#include "stoker/image/webp.h"
#include "stoker/kernels/resize/resize.h"
#include "stoker/pipeline/feed.h"
#include "stoker/report/html.h"
#include "stoker/report/image_grid.h"
#include "stoker/run/batch_digest.h"
#include "stoker/run/json_text.h"

namespace stoker {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kImagesOfKind = 24, kBatchImages = 16;
constexpr std::uint32_t kMostDigested = 64;          // and drawn
constexpr int kThumbnailSide = 128, kLossless = 64;  // pixels of the longer side

// The samples of a source with these indices, in this order.
class Picked final : public Source {
 public:
  Picked(std::shared_ptr<const Source> source, std::vector<std::uint64_t> indices)
      : source_(std::move(source)), indices_(std::move(indices)) {}

  [[nodiscard]] std::uint64_t size() const override { return indices_.size(); }
  [[nodiscard]] ImageShape shape() const override { return source_->shape(); }
  [[nodiscard]] int channels() const override { return source_->channels(); }
  [[nodiscard]] const std::vector<std::string>& class_names() const override {
    return source_->class_names();
  }
  [[nodiscard]] std::string sample_name(std::uint64_t i) const override {
    return source_->sample_name(indices_[i]);
  }
  [[nodiscard]] Result<Sample> read(std::uint64_t i, SampleBuffer& buffer) const override {
    return source_->read(indices_[i], buffer);
  }
  [[nodiscard]] Result<Sample> read_framed(std::uint64_t i, const FrameRequest& request,
                                           SampleBuffer& buffer) const override {
    return source_->read_framed(indices_[i], request, buffer);
  }
  [[nodiscard]] Result<std::span<const std::byte>> read_bytes(std::uint64_t i,
                                                              const MakeRoom& room) const override {
    return source_->read_bytes(indices_[i], room);
  }
  [[nodiscard]] Result<Sample> decode(std::uint64_t i, std::span<const std::byte> bytes,
                                      const FrameRequest& request,
                                      SampleBuffer& buffer) const override {
    return source_->decode(indices_[i], bytes, request, buffer);
  }

 private:
  std::shared_ptr<const Source> source_;
  std::vector<std::uint64_t> indices_;
};

struct Shown {
  Image image;
  std::int64_t label = 0;
  std::uint64_t index = 0;  // in the source
};

std::vector<Shown> first_batch(const std::shared_ptr<const Source>& source, const Policy& policy,
                               const FeedOptions& options) {
  std::vector<Shown> shown;
  if (options.batch_size == 0) return shown;
  Feed feed(source, policy, options);
  const auto batch = feed.next();
  if (!batch) return shown;
  const ImageShape& shape = batch->image_shape();
  for (std::uint32_t slot = 0; slot < batch->size(); ++slot) {
    const auto* pixels = reinterpret_cast<const std::uint8_t*>(batch->pixels_of(slot).data());
    shown.push_back({.image = Image(ImageView{pixels, shape, shape.bytes_per_row()}),
                     .label = batch->labels()[slot],
                     .index = batch->indices()[slot]});
  }
  return shown;
}

// As validation makes them: decoded exactly.
std::vector<Shown> picked(const std::shared_ptr<const Source>& source, const Policy& policy,
                          const ImageSources& sources, std::vector<std::uint64_t> indices) {
  FeedOptions options = first_batch_options(sources.feed);
  options.batch_size = static_cast<std::uint32_t>(indices.size());
  options.shuffle = false;
  options.framing = {};
  options.on_error = OnError::kSkip;
  return first_batch(std::make_shared<Picked>(source, std::move(indices)), policy, options);
}

Image thumbnail(const Image& image) {
  const ImageShape& shape = image.shape();
  const int longer = std::max(shape.height, shape.width);
  if (longer <= kThumbnailSide) return image;
  const auto shrunk = [longer](int side) { return std::max(1, side * kThumbnailSide / longer); };
  Image small({shrunk(shape.height), shrunk(shape.width), shape.channels});
  ResizeScratch scratch;
  resize(small.view(), image.view(), whole_image(shape), {.filter = ResizeFilter::kBilinear},
         scratch);
  return small;
}

// Small images keep every pixel: they are shown enlarged.
Json encoded(const Image& image) {
  const Image small = thumbnail(image);
  const ImageShape& shape = small.shape();
  const bool lossless = std::max(shape.height, shape.width) <= kLossless;
  return {{"type", lossless ? "png" : "webp"},
          {"width", shape.width},
          {"height", shape.height},
          {"data", base64(lossless ? encode_png(small.view()) : encode_webp(small.view()))}};
}

Json predicted_images(const ImageSources& sources, const PredictionTable& table,
                      const std::vector<std::size_t>& chosen) {
  Json list = Json::array();
  const std::vector<Shown> shown = picked(sources.validation, sources.validation_policy, sources,
                                          {chosen.begin(), chosen.end()});
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const std::size_t sample = chosen[i];
    list.push_back({{"sample", sources.validation->sample_name(sample)},
                    {"label", table.label[sample]},
                    {"first", table.first[sample]},
                    {"second", table.second[sample]},
                    {"first_share", table.first_share[sample]},
                    {"second_share", table.second_share[sample]},
                    {"loss", table.loss[sample]},
                    {"picture", encoded(shown[i].image)}});
  }
  return list;
}

// What shows an image as it is, at the size that samples have.
Policy without_augmentation(const Policy& policy) {
  if (policy.framing() == nullptr) return {};
  const int height = policy.framing()->output_height(), width = policy.framing()->output_width();
  return Policy::parse(height == width ? fmt::format("resize_crop({0},{0})", height)
                                       : fmt::format("resize({},{})", height, width));
}

Json augmented_images(const ImageSources& sources) {
  FeedOptions options = first_batch_options(sources.feed);
  options.batch_size =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(kBatchImages, sources.train->size()));
  options.on_error = OnError::kSkip;
  const std::vector<Shown> after = first_batch(sources.train, sources.policy, options);
  std::vector<std::uint64_t> indices;
  for (const Shown& shown : after) indices.push_back(shown.index);
  const std::vector<Shown> before =
      picked(sources.train, without_augmentation(sources.policy), sources, indices);
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(after.size(), before.size()); ++i) {
    list.push_back({{"label", after[i].label},
                    {"before", encoded(before[i].image)},
                    {"after", encoded(after[i].image)}});
  }
  return list;
}

}  // namespace

void write_run_images(const std::filesystem::path& path, const ImageSources& sources,
                      const PredictionTable& predictions) {
  const Json json = {{"epoch", predictions.epoch + 1},
                     {"top_losses", predicted_images(sources, predictions,
                                                     top_losses(predictions, kImagesOfKind))},
                     {"doubtful", predicted_images(sources, predictions,
                                                   most_doubtful(predictions, kImagesOfKind))},
                     {"batch", augmented_images(sources)}};
  write_whole_file(path, json_text(json) + "\n", "run's images");
}

FeedOptions first_batch_options(const FeedOptions& training) {
  FeedOptions options = training;
  options.workers = 1;
  options.batch_size = std::min(kMostDigested, training.batch_size);
  options.epochs = 1;
  options.begin = {};
  options.batches_per_epoch = 1;
  options.rank = 0;
  options.ranks = 1;
  options.pixel_type = PixelType::kU8;
  options.niceness = 0;
  return options;
}

std::string first_batch_digest(const ImageSources& sources) {
  FeedOptions options = first_batch_options(sources.feed);
  options.on_error = OnError::kSkip;
  Feed feed(sources.train, sources.policy, options);
  BatchDigest digest;
  if (const auto batch = feed.next()) digest.add(*batch);
  return digest.hex();
}

void draw_first_batch(const std::filesystem::path& path, const ImageSources& sources,
                      const std::string& title) {
  std::vector<GridCell> cells;
  for (Shown& shown :
       first_batch(sources.train, sources.policy, first_batch_options(sources.feed))) {
    const auto label = static_cast<std::size_t>(shown.label);
    cells.push_back(
        {.image = std::move(shown.image), .label = sources.train->class_names().at(label)});
  }
  if (!cells.empty()) write_png(path, image_grid(cells, {.title = title}).view());
}

}  // namespace stoker
