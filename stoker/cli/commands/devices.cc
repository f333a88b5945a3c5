// `stoker devices`: what this machine can compute on, and whether it works.

#include <filesystem>
#include <string>

#include <c10/core/Device.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/option_text.h"
#include "stoker/core/atomic_file.h"
#include "stoker/core/error.h"
#include "stoker/run/json_text.h"
#include "stoker/run/run_facts.h"
#include "stoker/train/device.h"
#include "stoker/train/device_check.h"
#include "stoker/train/device_list.h"

namespace stoker {
namespace {

using Json = nlohmann::ordered_json;

struct DevicesFlags {
  bool check = false, json = false;
  std::string device = "auto";
  std::string out = "device-check.md";
};

double gigabytes(std::uint64_t bytes) { return static_cast<double>(bytes) / 1e9; }

void print_list(const CpuFacts& cpu, const CudaFacts& cuda) {
  fmt::print("cpu      {}\n", cpu.name);
  fmt::print("         {} CPUs for this job ({})\n", cpu.cpus, cpu.cpus_reason);
  fmt::print("         instruction sets {}; kernels {}\n", fmt::join(cpu.instruction_sets, " "),
             cpu.kernels);
  fmt::print("         memory {:.1f} GB, {:.1f} GB available\n", gigabytes(cpu.memory_bytes),
             gigabytes(cpu.free_bytes));
  for (const AcceleratorFacts& each : cuda.devices) {
    fmt::print("cuda:{}   {}\n", each.index, each.name);
    fmt::print("         memory {:.1f} GB, compute capability {}\n", gigabytes(each.memory_bytes),
               each.capability);
  }
  if (cuda.devices.empty()) {
    fmt::print("no accelerator: {}\n", cuda.reason);
  } else {
    fmt::print("CUDA     driver {}, LibTorch's runtime {}, cuDNN {}\n", cuda.driver, cuda.runtime,
               cuda.cudnn);
  }
}

Json list_json(const CpuFacts& cpu, const CudaFacts& cuda) {
  Json devices = Json::array();
  for (const AcceleratorFacts& each : cuda.devices) {
    devices.push_back({{"device", fmt::format("cuda:{}", each.index)},
                       {"name", each.name},
                       {"memory_bytes", each.memory_bytes},
                       {"compute_capability", each.capability}});
  }
  return {{"cpu",
           {{"name", cpu.name},
            {"cpus", cpu.cpus},
            {"cpus_reason", cpu.cpus_reason},
            {"instruction_sets", cpu.instruction_sets},
            {"kernels", cpu.kernels},
            {"memory_bytes", cpu.memory_bytes},
            {"free_bytes", cpu.free_bytes}}},
          {"cuda",
           {{"devices", std::move(devices)},
            {"driver", cuda.driver},
            {"runtime", cuda.runtime},
            {"cudnn", cuda.cudnn},
            {"reason", cuda.reason}}}};
}

Json checks_json(const DeviceReport& report) {
  Json checks = Json::array();
  for (const DeviceCheck& device : report.devices) {
    for (const CheckResult& each : device.results) {
      checks.push_back({{"device", device.device},
                        {"check", each.name},
                        {"result", to_string(each.status)},
                        {"seconds", each.seconds},
                        {"detail", each.detail}});
    }
  }
  return checks;
}

// Those that the user means: all accelerators, one of them, or the CPU. Throws Error where there is
// none.
std::vector<c10::Device> devices_to_check(const std::string& wanted, const CudaFacts& cuda) {
  if (wanted != "auto") return {choose_device(wanted).device};
  std::vector<c10::Device> devices;
  for (const AcceleratorFacts& each : cuda.devices) {
    devices.emplace_back(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(each.index));
  }
  if (!devices.empty()) return devices;
  throw Error({.what = "no accelerator to check",
               .found = cuda.reason,
               .hint = "`stoker devices --check --device cpu` runs the same check on the CPU."});
}

// A folder for what the check writes, removed at the end.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "stoker-devices-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw Error({.what = "cannot make a folder for the check", .path = name});
    }
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

void run_checks(const std::vector<c10::Device>& devices, const DevicesFlags& flags,
                DeviceReport& report) {
  const ScratchFolder scratch;
  DeviceCheckOptions options;
  if (!flags.json) {
    options.on_result = [](const std::string& device, const CheckResult& result) {
      fmt::print("{:<8} {:<20} {:<8} {}\n", device, result.name, to_string(result.status),
                 with_flags(result.detail));
      std::fflush(stdout);
    };
  }
  for (const c10::Device& device : devices) {
    options.folder = scratch.path() / fmt::format("{}", report.devices.size());
    report.devices.push_back(check_device(device, options));
  }
  // One GPU cannot hold two ranks of NCCL; a CPU can hold any number.
  const bool pair = devices.size() > 1 || devices.front().is_cpu();
  report.devices.back().results.push_back(
      pair ? check_two_ranks(devices.front(), devices.back(), options)
           : CheckResult{.name = "two ranks",
                         .status = CheckStatus::kSkipped,
                         .detail = "needs two devices"});
}

void check(const DevicesFlags& flags) {
  DeviceReport report{.program = {}, .cpu = cpu_facts(), .cuda = cuda_facts(), .devices = {}};
  const std::vector<c10::Device> devices = devices_to_check(flags.device, report.cuda);
  if (std::filesystem::exists(flags.out)) {
    throw Error({.what = "the report's file exists already",
                 .path = flags.out,
                 .hint = "Name another with --out FILE, or remove it."});
  }
  const Json versions = program_versions();
  for (const auto& [name, value] : versions.items()) {
    report.program.emplace_back(name, value.get<std::string>());
  }
  report.program.emplace_back("time", utc_time());
  run_checks(devices, flags, report);
  write_whole_file(flags.out, to_markdown(report), "report");
  if (flags.json) {
    Json json = list_json(report.cpu, report.cuda);
    json["checks"] = checks_json(report);
    json["passed"] = report.passed();
    json["report"] = flags.out;
    fmt::print("{}\n", json_text(json));
  } else {
    fmt::print("{}; report: {}\n", report.passed() ? "all passed" : "FAILED", flags.out);
  }
  if (!report.passed()) throw ExitRequest{1};
}

void run(const DevicesFlags& flags) {
  if (flags.check) return check(flags);
  const CpuFacts cpu = cpu_facts();
  const CudaFacts cuda = cuda_facts();
  if (flags.json) {
    fmt::print("{}\n", json_text(list_json(cpu, cuda)));
  } else {
    print_list(cpu, cuda);
  }
}

}  // namespace

void add_devices_command(const Command& parent) {
  const Command command =
      parent.add_command("devices", "List or check the devices of this machine");
  auto flags = std::make_shared<DevicesFlags>();
  command.add_flag("--check", flags->check,
                   "train, resume and compare with the CPU on each accelerator; write a report");
  command.add_option("--device", flags->device,
                     "device to check: auto (every accelerator), cpu, cuda or cuda:INDEX");
  command.add_option("-o,--out", flags->out, "report of the check, as Markdown");
  command.add_flag("--json", flags->json, "print one JSON object");
  command.on_run([flags] { run(*flags); });
}

}  // namespace stoker
