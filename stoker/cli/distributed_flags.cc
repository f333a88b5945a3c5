#include "stoker/cli/distributed_flags.h"

namespace stoker {

void DistFlags::add_to(const Command& command) {
  command
      .add_option("--rank", launch.rank,
                  "of this process among --world-size; -1: as torchrun, mpirun or srun say")
      .between(-1, 1 << 20);
  command.add_option("--world-size", launch.ranks, "processes that train together; 0: likewise")
      .between(0, 1 << 20);
  command.add_option("--master-addr", launch.master_address,
                     "where rank 0 runs; not given: as the launcher says");
  command.add_option("--master-port", launch.master_port, "port there; 0: as the launcher says")
      .between(0, 65535);
  command
      .add_option("--dist-backend", backend,
                  "of c10d; auto: gloo where the device is a CPU, nccl where it is a GPU")
      .one_of({"auto", "gloo", "nccl"});
  command.add_option("--dist-interface", interface,
                     "network interface for all connections, e.g. eth0; not given: the one that "
                     "leads to --master-addr");
  command
      .add_option("--timeout", timeout,
                  "seconds after which a rank that died, hangs or is cut off ends the others")
      .between(2.0, 1e6);
  command
      .add_option("--reduce", reduce,
                  "overlap: gradients are summed over the ranks while the backward pass goes on; "
                  "after: when it is over, which also suits parameters without a gradient")
      .one_of({"overlap", "after"});
  command
      .add_option("--grad-compression", compression,
                  "of gradients between ranks; bfloat16 halves the bytes")
      .one_of({"none", "bfloat16"});
  command.add_flag("--sync-bn", sync_bn,
                   "batch norms take their statistics from the batch of all ranks together");
}

}  // namespace stoker
