#include "stoker/cli/compute_flags.h"

namespace stoker {

void ComputeFlags::add_to(const Command& command) {
  command
      .add_option("-j,--workers", workers, "threads that feed; 0: what the job may use, at least 2")
      .between(0, 4096);
  command.add_option("--threads", threads, "threads of LibTorch; 0: what pays for the model")
      .between(0, 4096);
  command.add_option("--device", device, "auto, cpu, cuda or cuda:INDEX");
}

}  // namespace stoker
