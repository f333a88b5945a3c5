// A training run from its settings: data, network and device are set up, a folder is made or
// resumed, everything is recorded there, and the best weights are tested at the end.
//
//   RunSettings settings;
//   settings.data = "mnist";
//   settings.model = "mlp:784,128,10";
//   const RunResult result = train_run(settings);
#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "stoker/run/final_test.h"
#include "stoker/run/run_events.h"
#include "stoker/run/run_settings.h"
#include "stoker/train/trainer.h"

namespace stoker {

struct RunResult {
  RunEnd end = RunEnd::kAllEpochs;  // kStopped: it can be resumed
  std::filesystem::path folder;
  std::uint64_t steps = 0;
  std::optional<FinalTest> test = {};  // of rank 0, where there is test data
  std::string divergence = {};         // what happened, with kDiverged
};

// Settings with the names of those that a user gave. A config file, a recipe and a resumed run set
// the others.
struct RunRequest {
  RunSettings settings;
  GivenSettings given;
};
// What differs from the defaults counts as given.
[[nodiscard]] RunRequest request_of(const RunSettings& settings);

// Applies settings.config and settings.recipe.
void apply_named_settings(RunRequest& request);
// "mnist-mlp"; "mnist" where the network is not chosen yet
[[nodiscard]] std::string default_run_name(const RunSettings& settings);

// Throws Error where the run cannot be made or fails. As one of several ranks (settings.ranks, or
// the launcher's variables) every process calls it; only rank 0 writes.
RunResult train_run(const RunSettings& settings, const RunEvents& events = {});

// The same for a program that ends when one of several ranks fails. `end_process` gets the rank's
// name (empty where the group itself failed) and the error, and must not return: threads of c10d
// may wait for ranks that are gone, so such a process cannot go on.
using EndProcess = std::function<void(const std::string& rank, const std::exception& error)>;
RunResult train_run(RunRequest request, const RunEvents& events,
                    const EndProcess& end_process = {});

}  // namespace stoker
