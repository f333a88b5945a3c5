#include "stoker/distributed/launch.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "stoker/core/digest.h"
#include "stoker/core/error.h"

namespace stoker {
namespace {

constexpr std::uint16_t kUsualPort = 29500;

std::optional<int> number_in(const Environment& environment, const char* name) {
  const auto text = environment(name);
  if (!text || text->empty()) return std::nullopt;
  int number = 0;
  const char* end = text->data() + text->size();
  const auto read = std::from_chars(text->data(), end, number);
  if (read.ec == std::errc{} && read.ptr == end && number >= 0) return number;
  throw Error({.what = fmt::format("cannot read the environment variable {}", name),
               .expected = "a number, 0 or more",
               .found = fmt::format("\"{}\"", *text)});
}

std::string text_in(const Environment& environment, const char* name) {
  return environment(name).value_or("");
}

// Where the launcher's own variables say nothing: MASTER_ADDR, MASTER_PORT, what was given by
// flags.
void read_meeting_place(Launch& launch, const LaunchFlags& flags, const Environment& environment) {
  const std::string address = text_in(environment, "MASTER_ADDR");
  if (!address.empty()) launch.master_address = address;
  if (const auto port = number_in(environment, "MASTER_PORT")) {
    launch.master_port = static_cast<std::uint16_t>(*port);
  }
  if (!flags.master_address.empty()) launch.master_address = flags.master_address;
  if (flags.master_port > 0) launch.master_port = static_cast<std::uint16_t>(flags.master_port);
}

struct LaunchNames {
  const char *rank, *ranks, *local_rank, *local_ranks;
};
constexpr LaunchNames kTorchruns{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
constexpr LaunchNames kOpenMpis{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                                "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};

Launch numbers_in(const Environment& environment, const LaunchNames& names) {
  return {.rank = number_in(environment, names.rank).value_or(0),
          .ranks = number_in(environment, names.ranks).value_or(1),
          .local_rank = number_in(environment, names.local_rank).value_or(0),
          .local_ranks = number_in(environment, names.local_ranks).value_or(1)};
}

Launch from_torchrun(const Environment& environment) {
  Launch launch = numbers_in(environment, kTorchruns);
  launch.launcher = "RANK and WORLD_SIZE";
  if (!environment("TORCHELASTIC_RUN_ID")) return launch;
  launch.launcher = "torchrun";
  launch.agent_keeps_store = text_in(environment, "TORCHELASTIC_USE_AGENT_STORE") == "True";
  return launch;
}

// Two jobs, or steps of one, on one machine must not meet.
std::uint16_t port_of_job(std::uint64_t number) {
  return static_cast<std::uint16_t>(15000 + number % 16384);
}

Launch from_open_mpi(const Environment& environment) {
  Launch launch = numbers_in(environment, kOpenMpis);
  launch.launcher = "Open MPI";
  if (launch.local_ranks < launch.ranks) launch.master_address.clear();  // unknown
  // "804716545", or "prterun-node7-4711@1" since version 5.
  const std::string job = text_in(environment, "PMIX_NAMESPACE");
  if (!job.empty()) launch.master_port = port_of_job(digest64(std::as_bytes(std::span(job))));
  return launch;
}

// Only of a step that srun started: in a batch script itself SLURM_NTASKS is set too, and the
// program runs once.
Launch from_slurm(const Environment& environment) {
  Launch launch{.rank = number_in(environment, "SLURM_PROCID").value_or(0),
                .ranks = number_in(environment, "SLURM_STEP_NUM_TASKS").value_or(1)};
  launch.local_rank = number_in(environment, "SLURM_LOCALID").value_or(0);
  const int nodes = number_in(environment, "SLURM_STEP_NUM_NODES").value_or(1);
  launch.local_ranks = (launch.ranks + nodes - 1) / std::max(1, nodes);
  launch.launcher = "Slurm";
  launch.own_cpus = environment("SLURM_CPUS_PER_TASK").has_value();
  if (nodes > 1) launch.master_address = first_host(text_in(environment, "SLURM_STEP_NODELIST"));
  const auto job = static_cast<std::uint64_t>(number_in(environment, "SLURM_JOB_ID").value_or(0));
  const auto step = static_cast<std::uint64_t>(number_in(environment, "SLURM_STEP_ID").value_or(0));
  launch.master_port = port_of_job(job * 16 + step % 16);
  return launch;
}

Launch from_environment(const Environment& environment) {
  if (environment("RANK") && environment("WORLD_SIZE")) return from_torchrun(environment);
  if (environment("OMPI_COMM_WORLD_SIZE")) return from_open_mpi(environment);
  if (environment("SLURM_STEP_NUM_TASKS")) return from_slurm(environment);
  return {};
}

Launch from_flags(const LaunchFlags& flags, const Environment& environment) {
  if (flags.rank < 0 || flags.ranks < 1) {
    throw Error({.what = "the rank of this process is not known",
                 .expected = "`rank` and `world_size` together",
                 .found = flags.rank < 0 ? "`world_size` alone" : "`rank` alone"});
  }
  Launch launch{.rank = flags.rank, .ranks = flags.ranks};
  launch.local_rank = number_in(environment, kTorchruns.local_rank).value_or(0);
  launch.local_ranks = number_in(environment, kTorchruns.local_ranks).value_or(1);
  launch.launcher = "flags";
  return launch;
}

void check(const Launch& launch) {
  if (launch.ranks < 1 || launch.rank >= launch.ranks) {
    throw Error({.what = fmt::format("the rank is out of range (from {})", launch.launcher),
                 .expected = fmt::format("0 to {}", launch.ranks - 1),
                 .found = fmt::format("{}", launch.rank)});
  }
  if (!launch.master_address.empty()) return;
  throw Error({.what = "it is not known where the ranks meet",
               .expected = "the address of rank 0's machine",
               .found = fmt::format("none from {}", launch.launcher),
               .hint = "Give `master_addr`, or set MASTER_ADDR for all ranks"});
}

}  // namespace

std::string first_host(const std::string& list) {
  const std::size_t bracket = list.find('[');
  const std::size_t comma = list.find(',');
  if (bracket == std::string::npos || comma < bracket) return list.substr(0, comma);
  const std::size_t end = list.find_first_of("],-", bracket);
  if (end == std::string::npos) return list.substr(0, bracket);
  return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1);
}

Launch read_launch(const LaunchFlags& flags, const Environment& environment) {
  const bool by_flags = flags.rank >= 0 || flags.ranks > 0;
  Launch launch = by_flags ? from_flags(flags, environment) : from_environment(environment);
  read_meeting_place(launch, flags, environment);
  if (launch.master_port == 0) launch.master_port = kUsualPort;
  check(launch);
  return launch;
}

}  // namespace stoker
