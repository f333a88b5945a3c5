#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/train/device_check.h"

namespace stoker {
namespace {

double gigabytes(std::uint64_t bytes) { return static_cast<double>(bytes) / 1e9; }

// A table's cell is one line without bars.
std::string cell(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '|') c = ' ';
  }
  return text;
}

}  // namespace

bool DeviceReport::passed() const {
  return std::ranges::all_of(devices, [](const DeviceCheck& each) { return each.passed(); });
}

std::string to_markdown(const DeviceReport& report) {
  std::string text = "# Stoker: device check\n\n";
  const auto out = std::back_inserter(text);
  for (const auto& [name, value] : report.program) fmt::format_to(out, "- {}: {}\n", name, value);
  fmt::format_to(out, "- CPU: {}, {} CPUs ({}), {}; kernels {}; {:.1f} GB\n", report.cpu.name,
                 report.cpu.cpus, report.cpu.cpus_reason,
                 fmt::join(report.cpu.instruction_sets, " "), report.cpu.kernels,
                 gigabytes(report.cpu.memory_bytes));
  if (report.cuda.devices.empty()) {
    fmt::format_to(out, "- accelerators: none: {}\n", report.cuda.reason);
  } else {
    fmt::format_to(out, "- CUDA: driver {}, LibTorch's runtime {}, cuDNN {}\n", report.cuda.driver,
                   report.cuda.runtime, report.cuda.cudnn);
  }
  for (const AcceleratorFacts& each : report.cuda.devices) {
    fmt::format_to(out, "- cuda:{}: {}, {:.1f} GB, compute capability {}\n", each.index, each.name,
                   gigabytes(each.memory_bytes), each.capability);
  }
  fmt::format_to(out, "\nTrained: `{}` on made-up images of 32×32×3.\n", device_check_network());
  fmt::format_to(out, "\n| device | check | result | seconds | detail |\n|---|---|---|---|---|\n");
  for (const DeviceCheck& device : report.devices) {
    for (const CheckResult& each : device.results) {
      fmt::format_to(out, "| {} | {} | {} | {:.2f} | {} |\n", device.device, each.name,
                     to_string(each.status), each.seconds, cell(each.detail));
    }
  }
  for (const DeviceCheck& device : report.devices) {
    if (device.kernel_tables.empty()) continue;
    fmt::format_to(out, "\n## Kernels on {}\n\n{}", device.device, device.kernel_tables);
  }
  fmt::format_to(out, "\nResult: {}\n", report.passed() ? "all passed" : "FAILED");
  return text;
}

}  // namespace stoker
