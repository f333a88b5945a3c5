/// \file
/// What a user sets for a training run; without LibTorch's headers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/augment/mix.h"
#include "stoker/nn/loss_kind.h"
#include "stoker/pipeline/feed.h"
#include "stoker/train/schedule.h"

namespace stoker {

/// Which optimiser.
enum class OptimiserKind { kSgd, kMomentum, kAdam, kAdamW, kLion };

/// "sgd" (Nesterov's momentum, as timm has it), "momentum", "adam", "adamw", "lion".
[[nodiscard]] std::span<const std::string> optimiser_names();
/// Throws Error with all names.
[[nodiscard]] OptimiserKind parse_optimiser_kind(std::string_view name);

/// Of the optimiser.
struct OptimiserOptions {
  OptimiserKind kind = OptimiserKind::kSgd;
  double momentum = 0.9;    ///< of the first two; 0: plain gradient descent
  double beta1 = 0.9;       ///< of the last three
  double beta2 = 0.999;     ///< of the last three; Lion's authors take 0.99
  double epsilon = 1e-8;    ///< of adam and adamw
  double weight_decay = 0;  ///< not for biases and norms, the tensors of one dimension
  /// Each stage learns at this fraction of the rate of the one after it; the head at the full rate.
  double layer_decay = 1;
};

/// Of weights (train/weight_average.h): one of two averages.
struct AverageOptions {
  double decay = 0;     ///< what stays of it in a step; 0: no average
  bool warmup = false;  ///< decay grows from 0.1, so that the first weights are soon forgotten
  /// Weights at the end of this epoch, counted from 0, and of all later ones count the same
  /// (stochastic weight averaging); 0: another average, or none.
  std::uint32_t equal_from = 0;
};

/// What to do when the loss diverges (train/loss_watch.h).
enum class OnDivergence { kContinue, kStop };

/// What a step's gradient is over the samples of its batches, those of all ranks: their mean, or
/// their sum, which the course's plain gradient descent takes.
enum class GradReduction { kMean, kSum };

/// Of training itself: how long, in which batches, with which loss.
struct TrainOptions {
  /// How training samples are made, and how many epochs of them. The trainer sets what depends on
  /// the data, the ranks and the checkpoint: `normalisation`, `rank`, `ranks`, `begin`, `niceness`.
  /// `workers`, `isolate`, `on_error` and `max_errors` hold for validation samples as well; those
  /// are always decoded exactly. By default training samples are not (augment/framing.h).
  FeedOptions feed = {.epochs = 10, .framing = {.exact_decode = false}};
  ScheduleOptions schedule = {};
  LossKind loss = LossKind::kCrossEntropy;
  DistillOptions distill = {};  ///< with TrainData::teacher
  GradReduction grad_reduction = GradReduction::kMean;
  double smoothing = 0;                    ///< of the labels
  MixOptions mix = {};                     ///< Mixup and CutMix
  std::vector<double> class_weights = {};  ///< of the loss, one for each class; empty: all 1
  double clip_grad = 0;                    ///< largest norm of a step's gradients; 0: any
  std::uint32_t grad_accum_steps = 1;      ///< batches whose gradients make one step
  std::uint32_t patience = 0;  ///< end after this many epochs without a better one; 0: never
  std::int64_t top_k = 5;
  std::uint32_t validation_batch_size = 256;
  /// From this epoch on, counted from 0, what was frozen learns too; 0: never.
  std::uint32_t unfreeze_epoch = 0;
  /// 0: images are augmented anew in every epoch. Else this many versions of each are made, their
  /// features kept, and only the head is trained; everything else must be frozen.
  std::uint32_t cached_views = 0;
  /// Features of the validation data are computed once where they cannot change; the figures are
  /// the same either way.
  bool cached_validation = true;
  OnDivergence on_divergence = OnDivergence::kStop;
  /// Batch norms compute as several ranks do that share their statistics
  /// (nn/layers/shared_statistics.h), whose roundings are not those of LibTorch's kernel. For a run
  /// that may have any number of ranks.
  bool shared_statistics = false;
};

}  // namespace stoker
