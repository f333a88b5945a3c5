// A trained model as an ONNX file: from normalised pixels (samples, channels, height, width) to
// "logits" of a classifier, "probabilities" of each class on its own (several labels), or
// "predictions" in the targets' own units (regression), for any number of samples at once. What
// else using it takes stands in the file's metadata under the names of the model file
// (nn/model_file.h): classes, mean, deviation, framing, task, thresholds, scale of the targets; and
// in words, for readers that do not know those: stoker.resize, stoker.pixels. Without LibTorch's
// headers.
#pragma once

#include <filesystem>
#include <string>

namespace stoker {

class Model;
struct ModelCard;

struct OnnxExportOptions {
  // The input is bytes (samples, height, width, channels), as decoders give them, and the graph
  // normalises them: the same float32 numbers as the feed's. Resizing stays outside: ONNX's Resize
  // computes in float32, ours in integers as Pillow does, and the pixels would differ.
  bool with_preprocessing = false;
  // Weights and what layers read are 8-bit integers (nn/int8), by the card's calibration: pairs of
  // QuantizeLinear and DequantizeLinear, which runtimes compute as integers.
  bool int8 = false;
};

// A file that either is there as a whole or leaves the old one. Throws Error where the disk
// refuses, where the images have more than 8 bits and the graph is to normalise them, or where
// int8 is wanted and the card has no calibration.
void write_onnx(const std::filesystem::path& path, const Model& model, const ModelCard& card,
                const OnnxExportOptions& options = {});

// The file's bytes: the same model, card and options make the same.
[[nodiscard]] std::string encode_onnx(const Model& model, const ModelCard& card,
                                      const OnnxExportOptions& options = {});

}  // namespace stoker
