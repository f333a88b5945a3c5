// The functions of stoker/stoker_preprocess.h.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "stoker/core/c_error.h"
#include "stoker/data/data_settings.h"
#include "stoker/io/model_metadata.h"
#include "stoker/pipeline/preprocessor.h"
#include "stoker/stoker_preprocess.h"

struct stoker_preprocessor {
  stoker::Preprocessor preprocessor;
  std::vector<std::string> class_names = {};
};

namespace {

using stoker::Error;
using stoker::PixelType;
using stoker::PreprocessOptions;

// A mistake in the call, not in an image.
class CallError : public Error {
 public:
  using Error::Error;
};

void require(bool holds, const char* expected) {
  if (!holds) throw CallError({.what = "wrong use of the function", .expected = expected});
}

void set_layout(PreprocessOptions& options, std::int32_t layout) {
  require(layout >= STOKER_FLOAT_NCHW && layout <= STOKER_UINT8_NHWC, "a value of stoker_layout");
  options.pixel_type = layout == STOKER_UINT8_NHWC ? PixelType::kU8 : PixelType::kF32;
  options.channels_last = layout == STOKER_FLOAT_NHWC;
}

PreprocessOptions options_of(const stoker_preprocess_options& given) {
  require(given.struct_size >= sizeof(stoker_preprocess_options),
          "stoker_preprocess_defaults() before anything is set");
  PreprocessOptions options{.image = {given.height, given.width, given.channels}};
  if (given.framing != nullptr) options.framing = given.framing;
  stoker::ChannelNumbers mean{}, deviation{};
  std::copy_n(given.mean, mean.size(), mean.begin());
  std::copy_n(given.std, deviation.size(), deviation.begin());
  for (const double value : deviation) require(value > 0, "std above 0");
  options.normalisation = stoker::from_mean_and_deviation(mean, deviation);
  options.limits.max_side = given.max_side;
  options.limits.max_pixels = given.max_pixels;
  set_layout(options, given.layout);
  return options;
}

stoker_preprocessor* preprocessor_of_model(const std::string& path, std::int32_t layout) {
  const stoker::SafetensorsFile file{std::filesystem::path(path)};
  const stoker::SafetensorsMetadata& metadata = file.metadata();
  const stoker::ModelPreprocessing found = stoker::read_model_preprocessing(metadata, path);
  PreprocessOptions options{
      .image = found.image,
      .framing = found.framing,
      .normalisation = stoker::from_mean_and_deviation(found.mean, found.deviation),
      .window = stoker::parse_window(found.window)};
  set_layout(options, layout);
  std::vector<std::string> names;
  if (metadata.contains(stoker::model_key::kClasses)) {
    names = stoker::read_model_classes(metadata, path);
  }
  return new stoker_preprocessor{stoker::Preprocessor(options), std::move(names)};
}

template <class Make>
stoker_preprocessor* made(Make&& make) noexcept {
  return stoker::guarded_c_call([&] { return make(); },
                                [](bool) -> stoker_preprocessor* { return nullptr; });
}

// Runs `write`, which fills the memory that it is given.
template <class Write>
int written(const stoker_preprocessor* preprocessor, void* out, size_t out_bytes,
            Write&& write) noexcept {
  bool wrong_call = false;
  return stoker::guarded_c_call(
      [&]() -> int {
        try {
          require(preprocessor != nullptr && out != nullptr, "pointers that are not null");
          require(out_bytes == preprocessor->preprocessor.output_bytes(),
                  "memory of stoker_preprocessor_bytes()");
          write(std::span(static_cast<std::byte*>(out), out_bytes));
        } catch (const CallError&) {
          wrong_call = true;
          throw;
        }
        return STOKER_OK;
      },
      [&](bool known) -> int {
        if (wrong_call) return STOKER_BAD_ARGUMENT;
        return known ? STOKER_BAD_IMAGE : STOKER_FAILED;
      });
}

}  // namespace

extern "C" {

const char* stoker_last_error(void) { return stoker::last_c_error().c_str(); }

void stoker_preprocess_defaults(stoker_preprocess_options* options) {
  if (options == nullptr) return;
  const stoker::DecodeLimits limits;
  *options = {.struct_size = sizeof(stoker_preprocess_options),
              .height = 224,
              .width = 224,
              .channels = 3,
              .framing = nullptr,
              .mean = {0, 0, 0, 0},
              .std = {1, 1, 1, 1},
              .layout = STOKER_FLOAT_NCHW,
              .max_side = limits.max_side,
              .max_pixels = limits.max_pixels};
}

stoker_preprocessor* stoker_preprocessor_create(const stoker_preprocess_options* options) {
  return made([&] {
    require(options != nullptr, "options");
    return new stoker_preprocessor{stoker::Preprocessor(options_of(*options))};
  });
}

stoker_preprocessor* stoker_preprocessor_from_model(const char* model_path, int32_t layout) {
  return made([&] {
    require(model_path != nullptr, "a path");
    return preprocessor_of_model(model_path, layout);
  });
}

void stoker_preprocessor_free(stoker_preprocessor* preprocessor) { delete preprocessor; }

size_t stoker_preprocessor_bytes(const stoker_preprocessor* preprocessor) {
  return preprocessor == nullptr ? 0 : preprocessor->preprocessor.output_bytes();
}

void stoker_preprocessor_shape(const stoker_preprocessor* preprocessor, int32_t* height,
                               int32_t* width, int32_t* channels) {
  const stoker::ImageShape shape = preprocessor == nullptr
                                       ? stoker::ImageShape{0, 0, 0}
                                       : preprocessor->preprocessor.options().image;
  if (height != nullptr) *height = shape.height;
  if (width != nullptr) *width = shape.width;
  if (channels != nullptr) *channels = shape.channels;
}

size_t stoker_preprocessor_class_count(const stoker_preprocessor* preprocessor) {
  return preprocessor == nullptr ? 0 : preprocessor->class_names.size();
}

const char* stoker_preprocessor_class_name(const stoker_preprocessor* preprocessor, size_t index) {
  if (index >= stoker_preprocessor_class_count(preprocessor)) return nullptr;
  return preprocessor->class_names[index].c_str();
}

int stoker_preprocess_encoded(const stoker_preprocessor* preprocessor, const void* bytes,
                              size_t size, void* out, size_t out_bytes) {
  return written(preprocessor, out, out_bytes, [&](std::span<std::byte> place) {
    require(bytes != nullptr || size == 0, "bytes");
    preprocessor->preprocessor.encoded(place, {static_cast<const std::byte*>(bytes), size});
  });
}

int stoker_preprocess_file(const stoker_preprocessor* preprocessor, const char* path, void* out,
                           size_t out_bytes) {
  return written(preprocessor, out, out_bytes, [&](std::span<std::byte> place) {
    require(path != nullptr, "a path");
    preprocessor->preprocessor.file(place, path);
  });
}

int stoker_preprocess_pixels(const stoker_preprocessor* preprocessor, const stoker_pixels* pixels,
                             void* out, size_t out_bytes) {
  return written(preprocessor, out, out_bytes, [&](std::span<std::byte> place) {
    require(pixels != nullptr && pixels->data != nullptr, "pixels");
    const stoker::ImageShape shape{pixels->height, pixels->width, pixels->channels};
    stoker::check_shape(shape);
    const size_t row = pixels->bytes_per_row == 0 ? shape.bytes_per_row() : pixels->bytes_per_row;
    preprocessor->preprocessor.pixels(place, {pixels->data, shape, row});
  });
}

}  // extern "C"
