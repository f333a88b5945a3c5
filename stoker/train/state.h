// State: all that a step of training changes. Saved between two steps and read back, the run goes
// on as if it had never stopped, bit for bit on a CPU.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/io/safetensors.h"
#include "stoker/nn/model.h"
#include "stoker/pipeline/plan.h"
#include "stoker/train/loss_watch.h"
#include "stoker/train/optimiser.h"
#include "stoker/train/schedule.h"
#include "stoker/train/weight_average.h"

namespace stoker {

// Of the epoch that is under way, summed where it is computed.
struct EpochSums {
  at::Tensor loss;   // float64: of all samples
  at::Tensor right;  // int64: samples whose class got the largest logit
  std::uint64_t samples = 0;
};

// The best epoch so far, by MetricsResult::score() on the validation data; of equals the first.
struct BestEpoch {
  std::uint32_t epoch = 0;
  double score = 0;
};

// What losses are multiplied by, where gradients in float16 would vanish otherwise. It halves when
// a gradient was too large for that and doubles after many good steps.
struct LossScale {
  double scale = 65536;
  std::uint32_t good_steps = 0;

  void after_step(bool finite);
};

struct State {
  // Optimiser and average take what is trainable now. Stages that learn only later are frozen
  // afterwards, others before.
  State(std::unique_ptr<Model> model, const OptimiserOptions& options,
        const AverageOptions& average = {});

  std::unique_ptr<Model> model;
  Optimiser optimiser;
  std::optional<WeightAverage> average;
  LossScale loss_scale;
  // Into how many parts a batch is split because it does not fit into the device's memory.
  std::uint32_t batch_parts = 1;
  Cursor cursor;  // where the data goes on; always between two steps
  std::uint64_t step = 0;
  PlateauState plateau;
  std::optional<BestEpoch> best;
  EpochSums sums;
  LossWatch loss_watch;
  std::uint64_t samples_digest = 0;  // of all steps so far (sample_digest.h)
  std::string teacher = {};          // digest of the one that it learns from (teacher.h); or none

  // The steps of the epoch before the cursor are made, its validation is not: sums are cleared
  // after it.
  [[nodiscard]] bool awaits_validation() const noexcept {
    return cursor.position == 0 && sums.samples > 0;
  }
  // Epochs that are trained and validated.
  [[nodiscard]] std::uint32_t epochs_done() const noexcept {
    return cursor.epoch - (awaits_validation() ? 1 : 0);
  }

  [[nodiscard]] EpochSums empty_sums() const;
  void clear_sums() { sums = empty_sums(); }
};

// Handles to every tensor of a state, named as in a checkpoint.
[[nodiscard]] std::vector<NamedTensor> tensors_of(const State& state);
// The rest of it, as text.
[[nodiscard]] std::string numbers_of(const State& state);

// The opposite. Throws Error, with the state unchanged or partly read, where the file was made for
// another model or optimiser.
void read_state(State& state, const SafetensorsFile& file, const std::string& numbers,
                const std::string& path);

// Those of numbers_of() alone; `path` is for messages.
void read_numbers(State& state, const std::string& numbers, const std::string& path);

}  // namespace stoker
