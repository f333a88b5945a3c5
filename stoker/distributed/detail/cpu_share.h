// Ranks on one machine that may use the same CPUs must share them; those that their launcher bound
// to CPUs of their own need not. mpirun binds two ranks to a core each and more of them to a whole
// socket; torchrun binds none. So the ranks tell each other what they may use.
#pragma once

#include <string>
#include <vector>

namespace stoker::detail {

// This process's machine and CPUs, for the others: "<boot id> 0,1,2,3".
[[nodiscard]] std::string own_cpus_text();

// Which part of the CPUs that `rank` sees is its own, where a CPU that n ranks of one machine see
// counts 1/n for each. 1 where nothing is known.
[[nodiscard]] double cpu_share(const std::vector<std::string>& texts_of_ranks, int rank);

}  // namespace stoker::detail
