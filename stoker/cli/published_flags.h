// Flags for weights that say nothing but themselves, such as the files that torchvision publishes:
// which network they are of, what its classes are called, how images become its input.
#pragma once

#include <string>

#include "stoker/cli/command.h"
#include "stoker/nn/model_file.h"

namespace stoker {

struct PublishedFlags {
  std::string model;        // empty: the file says it all
  std::string class_names;  // a file; empty: numbers from 0
  std::string framing = "imagenet-eval";
  bool allow_nonfinite = false;

  void add_to(const Command& command);
  // A model file, or one of a folder in Hugging Face's form, as it is; with --model, weights of any
  // format that we read, normalised by ImageNet's means. Throws Error where neither fits.
  [[nodiscard]] LoadedModel load(const std::string& weights) const;
};

}  // namespace stoker
