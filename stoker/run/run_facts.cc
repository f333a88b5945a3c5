#include "stoker/run/run_facts.h"

#include <array>
#include <ctime>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <sys/utsname.h>

#include "stoker/core/atomic_file.h"
#include "stoker/core/cpu_budget.h"
#include "stoker/core/data_order.h"
#include "stoker/core/digest.h"
#include "stoker/core/error.h"
#include "stoker/core/input_file.h"
#include "stoker/core/memory_limit.h"
#include "stoker/kernels/simd.h"
#include "stoker/run/json_text.h"

namespace stoker {
namespace {

using Json = nlohmann::ordered_json;

// The value of the first line "key : value".
std::string proc_value(const char* path, const std::string& key) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

std::string cpu_name(const utsname& system) {
  const std::string name = proc_value("/proc/cpuinfo", "model name");
  return name.empty() ? system.machine : name;
}

}  // namespace

Json machine_facts() {
  utsname system{};
  static_cast<void>(::uname(&system));
  const CpuBudget budget = cpu_budget();
  return {{"host", system.nodename},
          {"system", fmt::format("{} {} {}", system.sysname, system.release, system.machine)},
          {"cpu", cpu_name(system)},
          {"cpus", fmt::format("{} ({})", budget.cpus, budget.reason)},
          {"memory", fmt::format("{:.1f} GB", static_cast<double>(memory_limit()) / 1e9)},
          {"simd", active_simd()}};
}

Json program_versions() {
  return {{"stoker", release_version()}, {"compiler", fmt::format("{}", __VERSION__)}};
}

std::string utc_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

std::string file_digest(const std::filesystem::path& path) {
  try {
    const FileBytes file(path);
    return digest_of(file.bytes());
  } catch (const Error&) {
    return "";
  }
}

RunFacts::RunFacts(std::filesystem::path path) : path_(std::move(path)), facts_(Json::object()) {
  if (!std::filesystem::exists(path_)) return;
  Json read = Json::parse(read_text_file(path_), nullptr, /*allow_exceptions=*/false);
  if (read.is_object()) facts_ = std::move(read);
}

void RunFacts::save() const { write_whole_file(path_, json_text(facts_) + "\n", "run's facts"); }

}  // namespace stoker
