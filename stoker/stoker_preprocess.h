/// \file
/// For C and other languages: one image becomes the numbers that a network takes, with exactly the
/// pixels of training and of `stoker predict`. For programs with a runtime of their own; needs no
/// LibTorch. Plain C99. Link with the CMake target `Stoker::feed` (or `Stoker::train`, which
/// contains it), or `pkg-config stoker-feed`.
///
///     stoker_preprocessor* p = stoker_preprocessor_from_model(model, STOKER_FLOAT_NCHW);
///     size_t size = stoker_preprocessor_bytes(p);
///     float* input = malloc(size);
///     if (stoker_preprocess_file(p, "photo.jpg", input, size) != STOKER_OK)
///       fprintf(stderr, "%s\n", stoker_last_error());
///
/// All functions may be called by any number of threads at once, also with the same preprocessor;
/// only its end must come after all other calls. No exception leaves them.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "stoker/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What a function returns. stoker_last_error() says more.
typedef enum stoker_status {
  STOKER_OK = 0,
  STOKER_BAD_ARGUMENT = 1,  ///< the caller's mistake: a null pointer, a size that does not fit
  STOKER_BAD_IMAGE = 2,     ///< the image is damaged, too large, or no image
  STOKER_BUSY = 3,          ///< refused: as many calls as allowed are waiting already
  STOKER_LATE = 4,          ///< the time allowed for the call has passed
  STOKER_FAILED = 5         ///< anything else: no memory, a fault of the network
} stoker_status;

/// The text of the last error that a function of Stoker returned on this thread; "" where there was
/// none. Valid until the next call on this thread.
STOKER_API const char* stoker_last_error(void);

/// Pixels of 8 bits, rows from the top, channels interleaved.
typedef struct stoker_pixels {
  const uint8_t* data;
  int32_t height, width;
  int32_t channels;      ///< 1: grey, 3: RGB, 4: RGBA
  size_t bytes_per_row;  ///< 0: rows follow each other without gaps
} stoker_pixels;

/// What comes out of one image.
typedef enum stoker_layout {
  STOKER_FLOAT_NCHW = 0,  ///< float32, normalised: channel, row, column
  STOKER_FLOAT_NHWC = 1,  ///< float32, normalised: row, column, channel
  STOKER_UINT8_NHWC = 2   ///< bytes, not normalised: row, column, channel
} stoker_layout;

/// How images become numbers: (value / 255 - mean) / std for each channel, after the framing. Begin
/// with stoker_preprocess_defaults().
typedef struct stoker_preprocess_options {
  size_t struct_size;               ///< sizeof(stoker_preprocess_options): later ones may be longer
  int32_t height, width, channels;  ///< what comes out; 1: grey, 3: RGB, 4: RGBA
  /// A policy that gives images this size, such as "resize_crop(256,224)"; null: resized to it.
  const char* framing;
  double mean[4];      ///< default 0
  double std[4];       ///< above 0; default 1
  int32_t layout;      ///< of stoker_layout
  int32_t max_side;    ///< of an image; larger ones are refused
  int64_t max_pixels;  ///< of an image; larger ones are refused
} stoker_preprocess_options;

/// Sets all options to their defaults: 224 x 224, RGB, STOKER_FLOAT_NCHW.
STOKER_API void stoker_preprocess_defaults(stoker_preprocess_options* options);

/// Makes numbers of images. Opaque.
typedef struct stoker_preprocessor stoker_preprocessor;

/// Null where the options cannot be used: see stoker_last_error(). They are copied.
STOKER_API stoker_preprocessor* stoker_preprocessor_create(
    const stoker_preprocess_options* options);
/// As the metadata of a model file says that `stoker train` wrote; its weights are not read. Null
/// where it cannot be used.
STOKER_API stoker_preprocessor* stoker_preprocessor_from_model(const char* model_path,
                                                               int32_t layout);
/// Ends it; null is allowed.
STOKER_API void stoker_preprocessor_free(stoker_preprocessor* preprocessor);

/// Size of the result in bytes: height * width * channels numbers.
STOKER_API size_t stoker_preprocessor_bytes(const stoker_preprocessor* preprocessor);
/// Shape of the result. Pointers may be null.
STOKER_API void stoker_preprocessor_shape(const stoker_preprocessor* preprocessor, int32_t* height,
                                          int32_t* width, int32_t* channels);

/// How many classes the model file names; 0 for one that was not made from a model file.
STOKER_API size_t stoker_preprocessor_class_count(const stoker_preprocessor* preprocessor);
/// The name of an output of the network, valid until the preprocessor ends; null where there is no
/// such class. Of a model for regression, the name of a target.
STOKER_API const char* stoker_preprocessor_class_name(const stoker_preprocessor* preprocessor,
                                                      size_t index);

/// Of the bytes of an image's file: JPEG, PNG, WebP, TIFF, BMP or PNM. Writes the result to `out`,
/// whose size must be stoker_preprocessor_bytes(). Returns a stoker_status.
STOKER_API int stoker_preprocess_encoded(const stoker_preprocessor* preprocessor, const void* bytes,
                                         size_t size, void* out, size_t out_bytes);
/// Of an image's file.
STOKER_API int stoker_preprocess_file(const stoker_preprocessor* preprocessor, const char* path,
                                      void* out, size_t out_bytes);
/// Of pixels.
STOKER_API int stoker_preprocess_pixels(const stoker_preprocessor* preprocessor,
                                        const stoker_pixels* pixels, void* out, size_t out_bytes);

#ifdef __cplusplus
}
#endif
