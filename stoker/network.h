/// \file
/// Networks of a program's own, made of LibTorch's modules. A registered network trains, is saved,
/// resumed and predicts under its name, as the built-in ones do:
///
///     #include <stoker/network.h>
///     #include <stoker/train.h>
///     #include <torch/nn.h>
///
///     stoker::register_network(
///         {.name = "tiny", .usage = "tiny:CHANNELS", .make = [](const stoker::NetworkInput& in) {
///            const std::int64_t channels = std::stoll(in.details);
///            torch::nn::Conv2d conv(torch::nn::Conv2dOptions(in.image.channels, channels, 3));
///            return stoker::Network{
///                .stages = {{"conv", torch::nn::Sequential(conv, torch::nn::ReLU())}}};
///          }});
///     settings.model = "tiny:16";
///
/// A network is known in processes that register it: a program that opens such a model, by
/// stoker::Predictor or as one of several ranks, registers it first. The program `stoker` does not
/// know it.
///
/// Errors are thrown as stoker::Error. This header includes LibTorch's. Link with the CMake target
/// `Stoker::network` of `find_package(Stoker 0.2 REQUIRED COMPONENTS network)`, which contains
/// `Stoker::train` and finds the LibTorch that Stoker was built with.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <torch/nn/modules/container/sequential.h>

#include "stoker/export.h"
#include "stoker/image/image.h"

namespace stoker {

/// What a network is made for.
struct NetworkInput {
  std::string details;       ///< of the name "FAMILY:DETAILS"; empty for "FAMILY"
  ImageShape image;          ///< of the images, after augmentation
  std::int64_t classes = 0;  ///< of the output, which Stoker adds
  std::uint64_t seed = 0;    ///< of the run
};

/// Layers that are trained, or frozen, together.
struct NetworkStage {
  std::string name;              ///< "layer1", in front of the names of its tensors; not "head"
  torch::nn::Sequential layers;  ///< from one tensor to one tensor
};

/// A network, from the images to what its last layer sees. Stoker adds that layer, "head": a linear
/// one from the features to the classes. Where the last stage gives (samples, channels, height,
/// width), the features are the means of the channels; where it gives (samples, features), they are
/// that.
///
/// The first stage gets (samples, channels, height, width), normalised, float32 and channels-last:
/// use reshape() or flatten() where view() refuses. Parameters are float32 and in one place of the
/// network alone. Tensors that are not trained are buffers.
///
/// Layers must not draw at random in training, as torch::nn::Dropout does: a resumed run would
/// draw something else. `dropout` is keyed by seed, batch and sample instead.
struct Network {
  std::vector<NetworkStage> stages;
  /// Fraction of the features that training sets to 0 in front of the head.
  double dropout = 0;
  /// By default the seed sets the weights, to the same values with every version of LibTorch:
  /// parameters of two and more dimensions are uniform in +-sqrt(6 / inputs) (He), those named
  /// "bias" 0, others (of norms, say) as made. True: all remain as made. What LibTorch's generator
  /// gives while they are made follows from the seed, too.
  bool keep_weights = false;
};

/// Networks by one name.
struct NetworkFamily {
  std::string name;        ///< "tiny", of the names "tiny" and "tiny:DETAILS"
  std::string usage = {};  ///< for messages: "tiny:CHANNELS, e.g. tiny:16"; empty: the name
  /// Makes a network on the CPU; called for each model that is made or loaded. The same input must
  /// make the same network. Throw Error for details that it cannot read; std::invalid_argument and
  /// std::out_of_range, of std::stoi() and its like, become an Error with `usage`.
  std::function<Network(const NetworkInput& input)> make;
};

/// Adds networks, for the whole process and for good; models that are made from then on can be
/// named "NAME" and "NAME:DETAILS". Any thread may call it. Throws Error where the name is taken or
/// has other characters than a-z, 0-9, "_" and "-", or `make` is missing.
STOKER_API void register_network(NetworkFamily family);

}  // namespace stoker
