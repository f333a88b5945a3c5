// What a run was made of and where, as `run.json` of its folder: data, model, machine, versions,
// digests, how far it came. The file is for readers, such as `stoker report`; training never reads
// it. Plain functions; each write replaces the whole file.
#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

namespace stoker {

// Of this process's machine: host, system, CPU, CPUs that the job may use, memory, SIMD.
[[nodiscard]] nlohmann::ordered_json machine_facts();
// Of the program and the compiler.
[[nodiscard]] nlohmann::ordered_json program_versions();

// "2026-03-01T12:00:00Z", now
[[nodiscard]] std::string utc_time();

// The digest of a file's bytes; empty where it cannot be read.
[[nodiscard]] std::string file_digest(const std::filesystem::path& path);

// A file of JSON that is changed a part at a time.
class RunFacts {
 public:
  // Takes over what is in the file already, where that is an object.
  explicit RunFacts(std::filesystem::path path);
  // Not in the file until save().
  nlohmann::ordered_json& operator[](const char* key) { return facts_[key]; }
  void save() const;

 private:
  std::filesystem::path path_;
  nlohmann::ordered_json facts_;
};

}  // namespace stoker
