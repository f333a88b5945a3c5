#include "stoker/train/checkpointing.h"

#include <charconv>
#include <functional>
#include <map>
#include <sstream>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/different_lines.h"
#include "stoker/core/error.h"
#include "stoker/io/data_order_record.h"
#include "stoker/nn/tensor_views.h"

namespace stoker {
namespace {

constexpr const char* kSettings = "stoker.settings";
constexpr const char* kNumbers = "stoker.numbers";
constexpr const char* kData = "stoker.data";

const std::string& metadata_of(const CheckpointFolder::Found& found, const char* key) {
  const auto entry = found.file.metadata().find(key);
  if (entry != found.file.metadata().end()) return entry->second;
  throw Error({.what = "the checkpoint lacks a part",
               .path = found.path.string(),
               .expected = fmt::format("{} in its metadata", key),
               .found = "none"});
}

// Lines of "name: value", by name.
std::map<std::string, std::string, std::less<>> lines_by_name(const std::string& text) {
  std::map<std::string, std::string, std::less<>> lines;
  std::istringstream rest(text);
  for (std::string line; std::getline(rest, line);) lines[line.substr(0, line.find(':'))] = line;
  return lines;
}

// Without settings that the file does not know and that are at their defaults.
std::string known_settings(const std::string& here, const std::string& there,
                           const std::string& defaults) {
  const auto known = lines_by_name(there), default_lines = lines_by_name(defaults);
  std::string kept;
  std::istringstream rest(here);
  for (std::string line; std::getline(rest, line);) {
    const std::string name = line.substr(0, line.find(':'));
    const auto at_default = default_lines.find(name);
    const bool is_default = at_default != default_lines.end() && at_default->second == line;
    if (known.contains(name) || !is_default) kept += line + "\n";
  }
  return kept;
}

void check_settings(const std::string& all_here, const std::string& defaults,
                    const std::function<std::string(const std::string&)>& canonical,
                    const CheckpointFolder::Found& found) {
  std::string there = metadata_of(found, kSettings);
  if (all_here == there) return;
  if (canonical) there = canonical(there);
  const std::string here = known_settings(all_here, there, defaults);
  if (here == there) return;
  // Lines "name: value" in the same order: the first that differs says what changed.
  const auto [line_here, line_there] = first_different_lines(here, there);
  throw Error({.what = "the checkpoint was made with other settings",
               .path = found.path.string(),
               .expected = fmt::format("\"{}\", as in the checkpoint", line_there),
               .found = fmt::format("\"{}\"", line_here),
               .hint = "Resume with the same settings, or start a new run"});
}

// `kept` may have the memory of an earlier copy.
void copy_values(const at::Tensor& from, at::Tensor& kept) {
  const auto type = from.scalar_type();
  if (!kept.defined() || kept.sizes() != from.sizes() || kept.scalar_type() != type) {
    kept = at::empty(from.sizes(), at::TensorOptions().dtype(type));
  }
  kept.copy_(from.detach());
}

}  // namespace

CheckpointInterval parse_checkpoint_interval(const std::string& text) {
  if (text == "auto") return {.unit = IntervalUnit::kAuto};
  CheckpointInterval interval;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, interval.count);
  const std::string_view unit(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
  if (parsed.ec == std::errc{} && interval.count > 0) {
    if (unit == "step" || unit == "steps") return {interval.count, IntervalUnit::kSteps};
    if (unit == "min") return {interval.count, IntervalUnit::kMinutes};
    if (unit == "epoch" || unit == "epochs") return {interval.count, IntervalUnit::kEpochs};
  }
  throw OptionError({.what = "cannot read how often to save",
                     .expected = "auto, or a number and a unit: 50steps, 5min or 1epoch",
                     .found = fmt::format("\"{}\"", text)});
}

Checkpointing::Checkpointing(const std::filesystem::path& folder,
                             const CheckpointInterval& interval, int keep, std::string settings)
    : folder_(folder, keep), interval_(interval), settings_(std::move(settings)) {}

bool Checkpointing::is_due(const State& state, bool epoch_ended) const {
  switch (interval_.unit) {
    case IntervalUnit::kSteps:
      return state.step % interval_.count == 0;
    case IntervalUnit::kMinutes:
      return std::chrono::steady_clock::now() - saved_at_ >= std::chrono::minutes(interval_.count);
    case IntervalUnit::kEpochs:
      return epoch_ended && state.cursor.epoch % interval_.count == 0;
    case IntervalUnit::kAuto:
      return epoch_ended && pace_.is_due();
  }
  return false;
}

void Checkpointing::copy(const State& state) {
  copy_.is_written = false;
  copy_.step = state.step;
  copy_.metadata = {{kSettings, settings_}, {kNumbers, numbers_of(state)}, {kData, data_digest_}};
  record_data_order(copy_.metadata);
  std::vector<NamedTensor> tensors = tensors_of(state);
  if (writer_) {
    copy_.tensors.resize(tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      copy_values(tensors[i].tensor, copy_.tensors[i].tensor);
      copy_.tensors[i].name = std::move(tensors[i].name);
    }
  } else {
    copy_.tensors = std::move(tensors);
  }
}

void Checkpointing::save(const State& state, const std::function<void()>& before) {
  const auto start = std::chrono::steady_clock::now();
  wait();  // the copy may still be in use
  const Saved now{.step = state.step, .awaits_validation = state.awaits_validation()};
  if (saved_ == now && copy_.is_written) {
    if (before) write(before);
    return;
  }
  pace_.begin();
  copy(state);
  saved_ = now;
  write([this, before] {
    if (before) before();
    folder_.save(copy_.step, FileTensors(copy_.tensors).views(), copy_.metadata);
    copy_.is_written = true;
    if (!writer_) copy_.tensors.clear();  // those of the state itself
    pace_.end();
  });
  saved_at_ = std::chrono::steady_clock::now();
  ++times_.checkpoints;
  times_.waited_seconds += std::chrono::duration<double>(saved_at_ - start).count();
}

void Checkpointing::write(const std::function<void()>& job) {
  if (writer_) {
    writer_->start(job);
  } else {
    job();
  }
}

void Checkpointing::check() {
  if (writer_) writer_->check();
}

void Checkpointing::wait() {
  if (writer_) writer_->wait();
}

Checkpointing::Restored Checkpointing::restore(State& state) {
  Restored restored;
  const auto found = folder_.newest(restored.damaged);
  if (!found) {
    if (restored.damaged.empty()) return restored;
    throw Error({.what = "no checkpoint of the run is whole",
                 .path = folder_.path().string(),
                 .found = to_string(restored.damaged.front()),
                 .hint = "Start the run anew, or bring back the files from a copy",
                 .causes = restored.damaged});
  }
  check_data_order(found->file.metadata(), found->path.string());
  check_settings(settings_, defaults_, canonical_, *found);
  read_state(state, found->file, metadata_of(*found, kNumbers), found->path.string());
  restored.path = found->path;
  const auto data = found->file.metadata().find(kData);
  if (data != found->file.metadata().end()) restored.data_digest = data->second;
  saved_ = {.step = state.step, .awaits_validation = state.awaits_validation()};
  copy_.is_written = true;
  return restored;
}

}  // namespace stoker
