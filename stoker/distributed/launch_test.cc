#include "stoker/distributed/launch.h"

#include <map>

#include <gtest/gtest.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

Environment made_of(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

TEST(Launch, NothingMeansOneProcess) {
  const Launch launch = read_launch({}, made_of({}));
  EXPECT_EQ(launch.rank, 0);
  EXPECT_EQ(launch.ranks, 1);
}

TEST(Launch, TorchrunsVariablesWithTheAgentsStore) {
  std::map<std::string, std::string> variables = {{"RANK", "3"},
                                                  {"WORLD_SIZE", "4"},
                                                  {"LOCAL_RANK", "1"},
                                                  {"LOCAL_WORLD_SIZE", "2"},
                                                  {"MASTER_ADDR", "10.1.2.3"},
                                                  {"MASTER_PORT", "4321"},
                                                  {"TORCHELASTIC_RUN_ID", "none"},
                                                  {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
  const Launch launch = read_launch({}, made_of(variables));
  EXPECT_EQ(launch.rank, 3);
  EXPECT_EQ(launch.ranks, 4);
  EXPECT_EQ(launch.local_rank, 1);
  EXPECT_EQ(launch.local_ranks, 2);
  EXPECT_EQ(launch.master_address, "10.1.2.3");
  EXPECT_EQ(launch.master_port, 4321);
  EXPECT_TRUE(launch.agent_keeps_store);
  EXPECT_EQ(launch.launcher, "torchrun");
}

TEST(Launch, OpenMpiOnOneMachineNeedsNoAddressAndOnSeveralAsksForIt) {
  std::map<std::string, std::string> variables = {{"OMPI_COMM_WORLD_RANK", "1"},
                                                  {"OMPI_COMM_WORLD_SIZE", "2"},
                                                  {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                                  {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
  const Launch launch = read_launch({}, made_of(variables));
  EXPECT_EQ(launch.rank, 1);
  EXPECT_EQ(launch.master_address, "127.0.0.1");
  variables.insert_or_assign("PMIX_NAMESPACE", "804716545");
  const auto port = read_launch({}, made_of(variables)).master_port;
  variables.insert_or_assign("PMIX_NAMESPACE", "803799041");
  EXPECT_NE(read_launch({}, made_of(variables)).master_port, port);  // another job
  variables.insert_or_assign("OMPI_COMM_WORLD_LOCAL_SIZE", "1");
  EXPECT_THROW(static_cast<void>(read_launch({}, made_of(variables))), Error);
  variables.insert_or_assign("MASTER_ADDR", "node1");
  EXPECT_EQ(read_launch({}, made_of(variables)).master_address, "node1");
}

TEST(Launch, SlurmsStepMeetsAtItsFirstNodeAndABatchScriptIsOneProcess) {
  std::map<std::string, std::string> variables = {
      {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "77"}};
  EXPECT_EQ(read_launch({}, made_of(variables)).ranks, 1);
  variables.insert_or_assign("SLURM_STEP_NUM_TASKS", "4");
  variables.insert_or_assign("SLURM_STEP_NUM_NODES", "2");
  variables.insert_or_assign("SLURM_STEP_NODELIST", "node[07-08]");
  variables.insert_or_assign("SLURM_STEP_ID", "0");
  variables.insert_or_assign("SLURM_PROCID", "3");
  const Launch launch = read_launch({}, made_of(variables));
  EXPECT_EQ(launch.rank, 3);
  EXPECT_EQ(launch.ranks, 4);
  EXPECT_EQ(launch.local_ranks, 2);
  EXPECT_EQ(launch.master_address, "node07");
  variables.insert_or_assign("SLURM_JOB_ID", "78");
  EXPECT_NE(read_launch({}, made_of(variables)).master_port, launch.master_port);
}

TEST(Launch, FlagsWinOverTheEnvironment) {
  const Environment environment =
      made_of({{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "far"}});
  const Launch launch =
      read_launch({.rank = 1, .ranks = 2, .master_address = "near", .master_port = 5}, environment);
  EXPECT_EQ(launch.rank, 1);
  EXPECT_EQ(launch.ranks, 2);
  EXPECT_EQ(launch.master_address, "near");
  EXPECT_EQ(launch.master_port, 5);
}

TEST(Launch, NonsenseIsAnError) {
  const auto read = [](const LaunchFlags& flags, std::map<std::string, std::string> variables) {
    static_cast<void>(read_launch(flags, made_of(std::move(variables))));
  };
  EXPECT_THROW(read({.rank = 1}, {}), Error);
  EXPECT_THROW(read({.ranks = 2}, {}), Error);
  EXPECT_THROW(read({.rank = 2, .ranks = 2}, {}), Error);
  EXPECT_THROW(read({}, {{"RANK", "x"}, {"WORLD_SIZE", "2"}}), Error);
  EXPECT_THROW(read({}, {{"RANK", "2"}, {"WORLD_SIZE", "2"}}), Error);
}

TEST(Launch, FirstHostOfSlurmsLists) {
  EXPECT_EQ(first_host("localhost"), "localhost");
  EXPECT_EQ(first_host("a,b"), "a");
  EXPECT_EQ(first_host("node[07-12,20],gpu3"), "node07");
  EXPECT_EQ(first_host("gpu3,node[07-12]"), "gpu3");
  EXPECT_EQ(first_host("n[1,3]"), "n1");
  EXPECT_EQ(first_host("n[5]"), "n5");
}

}  // namespace
}  // namespace stoker
