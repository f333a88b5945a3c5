#include "stoker/run/run_images.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/atomic_file.h"
#include "stoker/data/sources/selection.h"
#include "stoker/data/sources/source_task.h"
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

struct Shown {
  Image image;
  std::int64_t label = 0;
  std::uint64_t index = 0;  // in the source
};

// Floats of 0 to 1, plane by plane, as values of 16 bits.
Image wide_image(std::span<const std::byte> floats, const ImageShape& shape) {
  Image image(shape);
  const auto* value = reinterpret_cast<const float*>(floats.data());
  for (int c = 0; c < shape.channels; ++c) {
    for (int y = 0; y < shape.height; ++y) {
      std::uint16_t* row = image.view().values<std::uint16_t>(y);
      for (int x = 0; x < shape.width; ++x) {
        row[x * shape.channels + c] = static_cast<std::uint16_t>(std::lround(*value++ * 65535));
      }
    }
  }
  return image;
}

// To look at.
Image shown_image(const Batch& batch, std::uint32_t slot) {
  const ImageShape& shape = batch.image_shape();
  const std::span<const std::byte> pixels = batch.pixels_of(slot);
  if (batch.pixel_type() == PixelType::kF32) return narrowed(wide_image(pixels, shape).view());
  const auto* first = reinterpret_cast<const std::uint8_t*>(pixels.data());
  return narrowed(ImageView{first, shape, shape.bytes_per_row()});
}

std::vector<Shown> first_batch(const std::shared_ptr<const Source>& source, const Policy& policy,
                               const FeedOptions& options) {
  std::vector<Shown> shown;
  if (options.batch_size == 0) return shown;
  Feed feed(source, policy, options);
  const auto batch = feed.next();
  if (!batch) return shown;
  for (std::uint32_t slot = 0; slot < batch->size(); ++slot) {
    shown.push_back({.image = shown_image(*batch, slot),
                     .label = batch->labels()[slot],
                     .index = batch->indices()[slot]});
  }
  return shown;
}

// As validation makes them: decoded exactly.
std::vector<Shown> picked(const std::shared_ptr<const Source>& source, const Policy& policy,
                          const ImageSources& sources, std::vector<std::uint64_t> indices) {
  FeedOptions options = first_batch_options(sources.feed, *source);
  options.batch_size = static_cast<std::uint32_t>(indices.size());
  options.shuffle = false;
  options.framing = {};
  options.on_error = OnError::kSkip;
  return first_batch(std::make_shared<Selection>(source, std::move(indices)), policy, options);
}

// The class of a sample, those that it shows, or its numbers.
std::string label_text(const Source& source, std::int64_t label, std::uint64_t index) {
  if (task_of(source) == Task::kClassify) {
    return label < 0 ? "" : source.class_names().at(static_cast<std::size_t>(label));
  }
  std::vector<float> numbers(number_count(source.fields()));
  static_cast<void>(source.read_fields(index, numbers).value());
  const std::vector<std::string>& names = output_names(source);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (task_of(source) == Task::kRegress) texts.push_back(fmt::format("{:.4g}", numbers[i]));
    if (task_of(source) == Task::kMultilabel && numbers[i] > 0) texts.push_back(names[i]);
  }
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
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
  FeedOptions options = first_batch_options(sources.feed, *sources.train);
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
    Json one = {{"label", after[i].label},
                {"before", encoded(before[i].image)},
                {"after", encoded(after[i].image)}};
    if (task_of(*sources.train) != Task::kClassify) {
      one["text"] = label_text(*sources.train, after[i].label, after[i].index);
    }
    list.push_back(std::move(one));
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

FeedOptions first_batch_options(const FeedOptions& training, const Source& source) {
  FeedOptions options = training;
  options.workers = 1;
  options.batch_size = std::min(kMostDigested, training.batch_size);
  options.epochs = 1;
  options.begin = {};
  options.batches_per_epoch = 1;
  options.rank = 0;
  options.ranks = 1;
  options.pixel_type = source.depth() == 8 ? PixelType::kU8 : PixelType::kF32;
  options.normalisation = {};  // 0 to 1
  options.niceness = 0;
  return options;
}

std::string first_batch_digest(const ImageSources& sources) {
  FeedOptions options = first_batch_options(sources.feed, *sources.train);
  options.on_error = OnError::kSkip;
  Feed feed(sources.train, sources.policy, options);
  BatchDigest digest;
  if (const auto batch = feed.next()) digest.add(*batch);
  return digest.hex();
}

void draw_first_batch(const std::filesystem::path& path, const ImageSources& sources,
                      const std::string& title) {
  std::vector<GridCell> cells;
  for (Shown& shown : first_batch(sources.train, sources.policy,
                                  first_batch_options(sources.feed, *sources.train))) {
    cells.push_back({.image = std::move(shown.image),
                     .label = label_text(*sources.train, shown.label, shown.index)});
  }
  if (!cells.empty()) write_png(path, image_grid(cells, {.title = title}).view());
}

}  // namespace stoker
