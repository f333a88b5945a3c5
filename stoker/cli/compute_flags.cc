#include "stoker/cli/compute_flags.h"

namespace stoker {

void ComputeFlags::add_to(CLI::App& command) {
  command
      .add_option("-j,--workers", workers, "threads that feed; 0: what the job may use, at least 2")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command.add_option("--threads", threads, "threads of LibTorch; 0: what pays for the model")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command.add_option("--device", device, "auto, cpu, cuda or cuda:INDEX")->capture_default_str();
}

}  // namespace stoker
