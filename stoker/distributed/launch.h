/// \file
/// Who this process is among the processes of a job, as its launcher says: torchrun, Open MPI's
/// mpirun and Slurm's srun put it into the environment; flags win over all of them. Without
/// LibTorch.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/core/environment.h"

namespace stoker {

/// As a user gives it; what is not set comes from the environment.
struct LaunchFlags {
  int rank = -1;
  int ranks = 0;
  std::string master_address = {};
  int master_port = 0;
};

/// This process among those that train together.
struct Launch {
  int rank = 0, ranks = 1;
  int local_rank = 0, local_ranks = 1;  ///< on this machine
  /// Where rank 0, or torchrun's agent, keeps the store at which the ranks meet.
  std::string master_address = "127.0.0.1";
  std::uint16_t master_port = 29500;
  std::string launcher = "one process";
  bool agent_keeps_store = false;
  /// The launcher says how many CPUs each rank has, so nothing is shared.
  bool own_cpus = false;
  /// Which part of the CPUs that this process sees is its own; known once the ranks have met.
  double cpu_share = 1;
};

/// Throws Error where what is set is invalid, or the meeting place is not known.
[[nodiscard]] Launch read_launch(const LaunchFlags& flags,
                                 const Environment& environment = environment_variable);

/// The first name of a list of hosts as Slurm writes it: "node[07-12,20],gpu3" begins with node07.
[[nodiscard]] std::string first_host(const std::string& list);

}  // namespace stoker
