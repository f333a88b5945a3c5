// When to save a run's state, and doing so: every N steps, minutes or epochs, and whenever it
// is asked to.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stoker/core/background_writer.h"
#include "stoker/core/error.h"
#include "stoker/io/checkpoint.h"
#include "stoker/train/pace.h"
#include "stoker/train/state.h"

namespace stoker {

// kAuto: after an epoch, whenever saving takes at most a twentieth of the time.
enum class IntervalUnit { kSteps, kMinutes, kEpochs, kAuto };

struct CheckpointInterval {
  std::uint64_t count = 1;
  IntervalUnit unit = IntervalUnit::kAuto;
};
// "auto", "50steps", "5min" or "1epoch" (also with a plural s). Throws Error where it is something
// else.
[[nodiscard]] CheckpointInterval parse_checkpoint_interval(const std::string& text);

// Of a run's time, at most, unless the user says how often to save.
inline constexpr double kSavingShare = 0.05;

class Checkpointing {
 public:
  // `settings` stands in every file: a state can only be read by a run with the same ones.
  Checkpointing(const std::filesystem::path& folder, const CheckpointInterval& interval, int keep,
                std::string settings);

  // Settings at their defaults, a line each: a file of an older version that does not know one of
  // them is taken for one with the default.
  void set_defaults(std::string defaults) { defaults_ = std::move(defaults); }
  // Brings settings of a file into the form of ours before they are compared: another version may
  // have written 1e-3 where we write 0.001.
  void compare_as(std::function<std::string(const std::string& settings)> canonical) {
    canonical_ = std::move(canonical);
  }
  // The digest of the data (data/data_identity.h) that the run is made of; stands in every file
  // from now on.
  void belong_to(std::string data_digest) { data_digest_ = std::move(data_digest); }
  // From now on save() copies the state, and a thread of this object writes the file. Memory for
  // one copy is kept.
  void write_in_background() { writer_.emplace(); }

  // The interval is over. To be asked for each settled state.
  [[nodiscard]] bool is_due(const State& state, bool epoch_ended) const;
  // Unless this very state is saved already. That before and that after the validation of an epoch
  // have the same step, and the same file. `before` writes what the checkpoint follows from, and is
  // called in any case. In the background, it is called by that thread; this function then waits
  // for what is still being written, and throws its failure.
  void save(const State& state, const std::function<void()>& before = {});
  // Another file of the run, in its turn.
  void write(const std::function<void()>& job);
  // What the caller of save() waited for: what was being written, and the copy.
  struct Times {
    std::uint64_t checkpoints = 0;
    double waited_seconds = 0;
  };
  [[nodiscard]] const Times& times() const noexcept { return times_; }
  // Throws the failure of what was written in the background; check() does not wait for the rest.
  void check();
  void wait();

  struct Restored {
    std::filesystem::path path;         // empty: there was nothing to go on from
    std::vector<ErrorDetails> damaged;  // why newer files were passed over
    std::string data_digest = {};       // empty: a file of an older version
  };
  // Reads the newest whole checkpoint into the state. Throws Error where it belongs to a run with
  // other settings or to a release with another data order (io/data_order_record.h), or where there
  // are checkpoints and none is whole.
  Restored restore(State& state);

 private:
  CheckpointFolder folder_;
  CheckpointInterval interval_;
  std::string settings_, data_digest_;
  std::string defaults_ = {};
  std::function<std::string(const std::string&)> canonical_ = {};
  struct Saved {
    std::uint64_t step = 0;
    bool awaits_validation = false;
    bool operator==(const Saved&) const = default;
  };
  void copy(const State& state);

  std::optional<Saved> saved_;  // or being written
  // What is being written. Its tensors are kept for the next: memory that is new to the process
  // costs as much time as the copying.
  struct Copy {
    std::uint64_t step = 0;
    std::vector<NamedTensor> tensors;
    SafetensorsMetadata metadata;
    bool is_written = false;
  } copy_;
  Times times_;
  std::chrono::steady_clock::time_point saved_at_ = std::chrono::steady_clock::now();
  Pace pace_{kSavingShare};
  std::optional<BackgroundWriter> writer_;  // last: ends before what its job uses
};

}  // namespace stoker
