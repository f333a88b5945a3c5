// Flags of the commands that use a trained model: which one, on which data, computed where.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/cli/command.h"
#include "stoker/cli/published_flags.h"
#include "stoker/data/shards/shard_options.h"
#include "stoker/data/sources/folder_source.h"
#include "stoker/data/sources/source.h"
#include "stoker/data/sources/table_columns.h"
#include "stoker/run/engine_choice.h"
#include "stoker/run/ready_model.h"
#include "stoker/run/run_settings.h"
#include "stoker/train/evaluate.h"

namespace stoker {

struct ModelFlags {
  std::string data, weights;
  PublishedFlags published;
  std::string split;        // empty: test, else val, else all
  std::uint32_t views = 1;  // test-time augmentation
  std::string view_policy = "hflip(1)";
  FolderOptions images;
  ShardOptions shards;
  TableColumns table;  // those that are not given are the run's
  ComputeSettings compute;
  EngineSettings engine;
  EvaluateOptions evaluate = {.batch_size = 0};
  std::string on_error = "report";
  bool needs_labels = true;  // false: data without classes will do

  void add_to(const Command& command);
  // Without how the model is asked: other views of images, engines, what unreadable images mean.
  void add_data_to(const Command& command);
};

// A model ready to be asked about data that fits it.
struct ModelAndData {
  ReadyModel ready;
  std::shared_ptr<const Source> source;
  std::string part;  // of the data: "test", "val", "all"

  [[nodiscard]] const Model& model() const { return *ready.loaded.model; }
  [[nodiscard]] const ModelCard& card() const { return ready.loaded.card; }
  [[nodiscard]] const EvaluateOptions& options() const { return ready.options; }
};
// Throws Error where shape or class names of the data are not the model's; class names that the
// data lacks altogether only where labels are needed.
[[nodiscard]] ModelAndData open_model_and_data(const ModelFlags& flags);

// Whether `stoker doctor` examines such data: folders and tables, not shards.
[[nodiscard]] bool is_for_doctor(const std::string& data, const Source& source);

// Samples that could not be read, as they are told at the end of a command.
class UnreadableSamples {
 public:
  void add(std::span<const SampleFault> faults);
  [[nodiscard]] const std::vector<SampleFault>& list() const noexcept { return faults_; }
  // Names the first few on the screen, and throws ExitRequest unless the user skips them. Call it
  // when all else is done.
  void end(const ModelFlags& flags, const Source& source, std::uint64_t samples) const;

 private:
  std::vector<SampleFault> faults_;
};

}  // namespace stoker
