// The folder of one training run: runs/NAME/{args.yaml, results.csv, log.txt, weights/,
// checkpoints/} and images. Owned by one process at a time, which a lock sees to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "stoker/core/own_folder.h"

namespace stoker {

class RunFolder {
 public:
  // A new folder output/name; where `name` is empty, one made of `default_name` and, if that is
  // taken, a number. Throws Error where it cannot be made, or a given name is taken.
  [[nodiscard]] static RunFolder create(const std::filesystem::path& output,
                                        const std::string& name, const std::string& default_name);
  // The folder output/name, whether it is there or not, for a run that has no settings yet: of one
  // that was killed before it had written them.
  [[nodiscard]] static RunFolder create_or_take(const std::filesystem::path& output,
                                                const std::string& name);
  // output/name. Throws OptionError where that lies elsewhere than in `output`.
  [[nodiscard]] static std::filesystem::path path_of(const std::filesystem::path& output,
                                                     const std::string& name);
  // The run `name` under `output` has settings and can be gone on with.
  [[nodiscard]] static bool is_there(const std::filesystem::path& output, const std::string& name);
  // An existing one, given by its path or its name under `output`.
  [[nodiscard]] static RunFolder open(const std::filesystem::path& output, const std::string& run);

  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&&) = delete;
  ~RunFolder();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] std::filesystem::path args() const { return path_ / "args.yaml"; }
  [[nodiscard]] std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  [[nodiscard]] std::filesystem::path best_weights() const { return weights("best"); }
  [[nodiscard]] std::filesystem::path last_weights() const { return weights("last"); }

  // Appends a line to log.txt, and tells it to the listener; control characters as \xNN.
  void say(const std::string& line);
  void listen(std::function<void(const std::string& line)> listener) {
    listener_ = std::move(listener);
  }
  // How lines are put for their readers, in log.txt too. As they are where it is empty.
  void set_wording(std::function<std::string(const std::string& line)> wording) {
    wording_ = std::move(wording);
  }

 private:
  explicit RunFolder(std::filesystem::path path);
  [[nodiscard]] std::filesystem::path weights(const char* which) const;

  std::filesystem::path path_;
  OwnFolder own_;
  int lock_ = -1;  // descriptor
  std::function<void(const std::string&)> listener_ = {};
  std::function<std::string(const std::string&)> wording_ = {};
};

// results.csv: a row for each epoch, written anew as a whole, so that it never holds half a row.
class ResultsTable {
 public:
  ResultsTable(std::filesystem::path path, std::string header);
  // Takes over the rows of the file that are there already, up to (without) this epoch. Returns how
  // many of them are missing.
  std::uint32_t read_rows_before(std::uint32_t epoch);
  void add(std::uint32_t epoch, const std::string& row);

 private:
  std::filesystem::path path_;
  std::string header_;
  std::map<std::uint32_t, std::string> rows_;  // by epoch, counted from 0
};

}  // namespace stoker
